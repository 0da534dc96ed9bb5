package ipc

// InheritedName is the FileDescriptorName= of the .socket unit whose socket the daemon serves.
const InheritedName = "api"
