// The search field: answers while a person types, and explains the syntax.

import { IDEOGRAPHS } from '../comments/text.js'
import { h } from '../common/dom.js'
import { isComposing } from '../common/keys.js'
import { t } from '../common/language.js'
import { sheetOf } from '../common/popover.js'

const PAUSE = 200 // ms after the last letter
const LONGEST = 200 // characters

const TERMS = /-?(?:"[^"]*"?|[^\s"]+)/gu
// At the end of a text: three letters or digits of one word. Of less the server refuses a beginning
// (reviewer/store/sqlite/texts.py), and an ideograph is a whole word.
const BEGUN = new RegExp(`(?:(?![${IDEOGRAPHS}])[\\p{L}\\p{N}\\p{M}\\p{Co}]){3}$`, 'u')

/**
 * A text that is being typed as it is searched for: its last word may go on, so it counts as a beginning, unless it
 * leaves texts out.
 * @param {string} typed
 */
export function whileTyping(typed) {
  const text = typed.normalize('NFC')
  const last = text.match(TERMS)?.at(-1) ?? ''
  if (!BEGUN.test(text) || last.startsWith('-')) return text
  const begun = last.startsWith('"') ? `${text}"*` : `${text}*`
  return begun.length > LONGEST ? text : begun
}

export class SearchField {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #soon
  /** Whether the text was typed here: its last word may go on. */
  #typed = false

  /** @param {{onWords: (words: string) => void, onDown: () => void}} callbacks */
  constructor({ onWords, onDown }) {
    this.onWords = onWords
    this.input = h('input', {
      type: 'search',
      name: 'find',
      maxLength: LONGEST,
      autocomplete: 'off',
      spellcheck: false,
      placeholder: t('Words in traces and comments, e.g. "Balmer absorption" -noise'),
      'aria-label': t('Search in traces and comments'),
      // The letters of an input method are no words yet.
      onInput: (/** @type {InputEvent} */ event) => event.isComposing || this.#changedSoon(),
      onCompositionend: () => this.#changedSoon(),
    })
    this.input.addEventListener('keydown', (event) => {
      if (isComposing(event)) return
      if (event.key === 'Enter') this.#changed()
      else if (event.key !== 'ArrowDown') return
      else onDown()
      event.preventDefault()
      event.stopPropagation()
    })
    const names = [h('span.long', t('How to search')), h('span.short', '?')]
    this.help = h('button.syntax', { 'aria-label': t('How to search') }, names)
    const sheet = sheetOf(this.help, 'div.syntax-sheet', t('How to search'), () => [syntaxElements()])
    this.root = h('div.search-field', { role: 'search' }, this.input, this.help, sheet)
  }

  /** What is searched for. */
  get words() {
    const { value } = this.input
    return (this.#typed ? whileTyping(value) : value).trim()
  }

  /** @param {string} words */
  set(words) {
    clearTimeout(this.#soon)
    if (this.words === words) return
    this.input.value = words
    this.#typed = false
  }

  focus() {
    this.input.focus()
    this.input.select()
  }

  #changedSoon() {
    this.#typed = true
    clearTimeout(this.#soon)
    this.#soon = setTimeout(() => this.#changed(), PAUSE)
  }

  #changed() {
    clearTimeout(this.#soon)
    this.onWords(this.words)
  }
}

/** What can be typed in the search field. */
export function syntaxElements() {
  /** @type {[string, string][]} */
  const rows = [
    [t('sky line'), t('texts with both words: the trace, a comment or a note')],
    [t('"sky line"'), t('texts with these words next to each other')],
    ['absor*', t('texts with a word that begins so')],
    ['Hβ -noise', t('texts with the first word and without the second')],
  ]
  return h(
    'div.syntax-words',
    h('dl', ...rows.map(([example, meaning]) => [h('dt', h('code', example)), h('dd', meaning)])),
    h('p.muted', t('While you type, the last word counts as a beginning. A space after it ends the word.')),
    h(
      'p.muted',
      t('Capital letters and accents make no difference. Items are found by name with “Name or id” of the filter.'),
    ),
  )
}
