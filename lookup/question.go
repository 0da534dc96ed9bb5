package lookup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A question is asked in words that every question is asked in. Where it matters how much of a question a name covers, or
// how much of it the folder knows, these do not count: in a folder of a few pages "how" is as rare as "kafka", and idf
// tells nothing. Ranking does not need the lists; idf does that well enough, and "to be or not to be" is a query, too.
const (
	englishFunction = `a an the this that these those it its they them their there here he she his her we us our ours you your i me my mine
		is are was were be been being am do does did done doing have has had having can could will would shall should may might must
		to of in on at by for from with without into onto about as than then so such and or but if not no nor only just also too very
		what which who whom whose when where why how isn't aren't wasn't don't doesn't didn't can't won't couldn't i'm it's what's
		any some all each every both either neither more most other another same own again still already yet ever never always
		get gets got make makes made let lets want wants need needs like please help tell know
		way thing things something anything one ones up down out over off between`

	chineseFunction = `怎么办 怎么样 怎么做 怎么写 怎么 怎样 如何 什么时候 什么样 什么 为什么 为何 为啥 哪些 哪个 哪里 哪儿 多少 多久 几个 几点 是否 能否 可否 能不能 可不可以
		是不是 有没有 要不要 可以 应该 需要 想要 请问 请教 一下 一个 一些 一种 这个 那个 这些 那些 这样 那样 这里 那里 我们 你们 他们 她们 它们 咱们 自己 大家 没有 不是 不能 不了
		时候 之后 之前 以后 以前 以及 或者 还是 而且 但是 因为 所以 如果 只是 只有 已经 正在 一直 老是 总是 经常 好像 办法 方法 处理 解决 问题 情况 原因 怎么回事 回事 知道 告诉 帮忙 推荐`

	// chineseParticles mean nothing where they are left alone between words that were taken out and other scripts.
	chineseParticles = "的了吗呢吧啊呀么是在有和与或及就都也还又再很太更最把被让给对从到向跟而但因为以会能可要想请我你他她它谁几这那哪个些不没好多上下中里用"
)

var functionWords = func() map[string]bool {
	words := make(map[string]bool)
	for _, w := range strings.Fields(englishFunction + " " + chineseFunction) {
		words[w] = true
	}
	return words
}()

// longestFunction is the length of the longest Chinese function word, in characters.
const longestFunction = 4

// contentMask says of each rune of a folded query whether it belongs to a word of content. A query of nothing but function
// words means them: then all words do.
func contentMask(q []rune) []bool {
	mask := make([]bool, len(q))
	found := false
	for i := 0; i < len(q); {
		switch {
		case unicode.Is(unicode.Han, q[i]):
			end := i
			for end < len(q) && unicode.Is(unicode.Han, q[end]) {
				end++
			}
			found = maskHan(q[i:end], mask[i:end]) || found
			i = end
		case significant(q[i]):
			end := i
			for end < len(q) && !unicode.Is(unicode.Han, q[end]) && (significant(q[end]) || strings.ContainsRune("'’_-.", q[end]) && end+1 < len(q) && significant(q[end+1])) {
				end++
			}
			if !functionWords[strings.ReplaceAll(string(q[i:end]), "’", "'")] {
				found = true
				for j := i; j < end; j++ {
					mask[j] = true
				}
			}
			i = end
		default:
			i++
		}
	}
	if !found {
		for i, r := range q {
			mask[i] = significant(r)
		}
	}
	return mask
}

// maskHan masks a run of Han characters: function words, the longest first, are left out, and so are particles that stand
// alone between them.
func maskHan(run []rune, mask []bool) (found bool) {
	for i := 0; i < len(run); {
		n := min(longestFunction, len(run)-i)
		for n > 1 && !functionWords[string(run[i:i+n])] {
			n--
		}
		if n == 1 {
			mask[i] = true
		}
		i += n
	}
	for i := range run {
		alone := mask[i] && (i == 0 || !mask[i-1]) && (i+1 == len(run) || !mask[i+1])
		if alone && strings.ContainsRune(chineseParticles, run[i]) {
			mask[i] = false
		}
		found = found || mask[i]
	}
	return found
}

// contentWords is a query without its function words, and its Latin words alone where it has Chinese beside them: names of
// products and things, mostly, that a folder about them would spell as well ("" if there are none or nothing else).
func contentWords(query string) (words, named string) {
	q := []rune(query)
	var all, latin strings.Builder
	han := false
	for i, keep := range contentMask(foldedRunes(q)) {
		r := q[i]
		isHan := unicode.Is(unicode.Han, r)
		han = han || isHan
		if !keep {
			r = ' '
		}
		all.WriteRune(r)
		if isHan {
			r = ' '
		}
		latin.WriteRune(r)
	}
	words, named = strings.TrimSpace(all.String()), strings.TrimSpace(latin.String())
	if !han || !strings.ContainsFunc(named, unicode.IsLetter) {
		named = ""
	}
	return words, named
}

// onlyFunction reports a query of nothing but words that every question is asked in: it is about anything.
func onlyFunction(query string) bool {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !significant(r) && r != '\'' })
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !functionWords[w] })
}

// onlyCodes reports words that are codes and identifiers, all of them: ERR_FOO, PG-505, HTTP 418, readTimeout.
func onlyCodes(words string) bool {
	all := strings.Fields(words)
	return len(all) > 0 && !slices.ContainsFunc(all, func(w string) bool { return !isCode(w) })
}

func isCode(word string) bool {
	digits, upper, lower, inner := 0, 0, 0, false
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Han, r):
			return false
		case unicode.IsDigit(r):
			digits++
		case unicode.IsUpper(r):
			inner = inner || lower > 0
			upper++
		case unicode.IsLetter(r):
			lower++
		}
	}
	return digits > 0 || inner || strings.Contains(word, "_") || upper > 1 && lower == 0
}

// width is what a letter counts for where parts of a query are compared: an ideograph says about as much as two letters.
func width(r rune) float64 {
	switch {
	case !significant(r):
		return 0
	case r >= 0x2E80 && utf8.RuneLen(r) > 2:
		return 2
	}
	return 1
}
