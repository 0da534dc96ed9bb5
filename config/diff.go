package config

import "reflect"

// Diff lists the settings in which a and b differ, in the order of Config's fields.
func Diff(a, b *Config) (paths []string) {
	x, y := *a, *b // settings point into them
	other := settings(&y)
	for i, s := range settings(&x) {
		if !reflect.DeepEqual(s.value.Interface(), other[i].value.Interface()) {
			paths = append(paths, s.path)
		}
	}
	return paths
}
