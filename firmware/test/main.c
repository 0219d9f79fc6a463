/* The core's own tests; the argument is the file of frames that the appliance's tests read too. */
#include "check.h"

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    test_frames(argv[1]);
    test_ring();
    test_session();
    test_capture();
    puts("core: all well");
    return 0;
}
