// Package embedding turns text into vectors.
package embedding
