package lookup

import "slices"

// wholeList is the list length from which a reader wants to see all exact matches rather than the best of all.
const wholeList = 20

// shortList is the list length below which one text is shown once.
const shortList = 10

// choose cuts the fused list to topK and sees to it that exact matches are in it (SPEC 2.2): all that fit in a long list;
// in a short one its better half stays as fused, lest a keyword that ten documents share crowd out the answer. A short list has each text once.
func choose(list []fused, topK int) []fused {
	fold := topK < shortList && slices.ContainsFunc(list, func(d fused) bool { return d.folded })
	if len(list) <= topK && !fold {
		return list
	}
	stay := topK / 2
	if topK >= wholeList {
		stay = 0
	}
	picked := make([]bool, len(list))
	n := 0
	pick := func(want func(*fused) bool) {
		for i := 0; i < len(list) && n < topK; i++ {
			if !picked[i] && want(&list[i]) {
				picked[i] = true
				n++
			}
		}
	}
	for i := 0; i < len(list) && n < stay; i++ {
		if !fold || !list[i].folded {
			picked[i] = true
			n++
		}
	}
	pick(func(d *fused) bool { return d.ranks.Exact > 0 })
	pick(func(d *fused) bool { return !fold || !d.folded })
	out := make([]fused, 0, topK)
	for i := range list {
		if picked[i] {
			out = append(out, list[i])
		}
	}
	return out
}
