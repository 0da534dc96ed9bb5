// Package lookup is the policy of an answer: match, decide, fan out, fuse, assemble.
package lookup
