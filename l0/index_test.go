package l0
