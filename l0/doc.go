// Package l0 is the keyword index: an exact table of names and a full-text index of chunks.
package l0
