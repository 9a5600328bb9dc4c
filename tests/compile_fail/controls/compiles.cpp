/// Says: nothing, because it compiles
int main() {}
