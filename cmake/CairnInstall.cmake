# Install rules, the CMake package and pkg-config file.
