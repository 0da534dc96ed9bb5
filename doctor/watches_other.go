//go:build !linux

package doctor

// watchLimits: other systems have none to run into, or none that can be asked for.
func watchLimits() (l limits, known bool) { return l, false }

func eventless(string) string { return "" }
