package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	xlanguage "golang.org/x/text/language"
)

// language is one the pages are in.
type language string

const (
	english language = "en"
	chinese language = "zh"
)

// Tag is what lang attributes say; templates call it.
func (l language) Tag() string {
	if l == chinese {
		return "zh-CN"
	}
	return "en"
}

var offered = xlanguage.NewMatcher([]xlanguage.Tag{xlanguage.English, xlanguage.Chinese})

// languageCookie keeps the choice of the switch. It holds nothing else, so that it needs no protection.
const languageCookie = "knowledged_lang"

// languageOf is the one chosen with the switch, else the best of Accept-Language.
func languageOf(r *http.Request) language {
	if c, err := r.Cookie(languageCookie); err == nil {
		switch l := language(c.Value); l {
		case english, chinese:
			return l
		}
	}
	tags, _, err := xlanguage.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return english
	}
	if _, i, _ := offered.Match(tags...); i == 1 {
		return chinese
	}
	return english
}

// switched answers ?lang= with the cookie and the address without it.
func switched(w http.ResponseWriter, r *http.Request) bool {
	q := r.URL.Query()
	l := language(q.Get("lang"))
	if l != english && l != chinese {
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: languageCookie, Value: string(l), Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	q.Del("lang")
	to := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return true
}

// langOf guesses a text's language for its lang attribute, which chooses the glyphs and how a screen reader speaks:
// characters of Chinese without kana are Chinese. Empty: that of the page.
func langOf(s string) string {
	han := false
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Han, r):
			han = true
		}
	}
	if han {
		return "zh-CN"
	}
	return "en"
}

// say is a text of the catalogue, with fmt's verbs filled in. A list as the only argument is the arguments. A key that is
// not there shows itself; a test knows them all.
func (l language) say(key string, args ...any) string {
	if len(args) == 1 {
		if list, ok := args[0].([]any); ok {
			args = list
		}
	}
	t, ok := catalogue[key]
	if !ok {
		return key
	}
	text := t.en
	if l == chinese {
		text = t.zh
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// duration is rounded to what a person wants to know.
func (l language) duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return l.say("duration.seconds", max(1, int(d.Seconds())))
	case d < time.Hour:
		return l.say("duration.minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return l.say("duration.hours", int(d.Hours()))
	}
	return l.say("duration.days", int(d.Hours()/24))
}

// ago is how long ago a time was; of times in the future, by a clock put back, it is now.
func (l language) ago(t time.Time) string { return l.say("duration.ago", l.duration(time.Since(t))) }

// bytes in the units of people.
func byteSize(n int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	s := fmt.Sprintf("%.1f", f)
	if f >= 100 || i == 0 {
		s = fmt.Sprintf("%.0f", f)
	}
	return strings.TrimSuffix(s, ".0") + " " + units[i]
}
