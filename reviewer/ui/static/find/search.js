// The search field: answers while a person types, and explains the syntax.

import { h } from '../common/dom.js'
import { t } from '../common/language.js'
import { sheetOf } from '../common/popover.js'

const PAUSE = 200 // ms after the last letter

export class SearchField {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #soon

  /** @param {{onWords: (words: string) => void, onDown: () => void}} callbacks */
  constructor({ onWords, onDown }) {
    this.onWords = onWords
    this.input = h('input', {
      type: 'search',
      name: 'find',
      maxLength: 200,
      autocomplete: 'off',
      spellcheck: false,
      placeholder: t('Words in traces and comments, e.g. "Balmer absorption" -noise'),
      'aria-label': t('Search in traces and comments'),
      onInput: () => this.#changedSoon(),
    })
    this.input.addEventListener('keydown', (event) => {
      if (event.isComposing || event.keyCode === 229) return
      if (event.key === 'Enter') this.#changed()
      else if (event.key !== 'ArrowDown') return
      else onDown()
      event.preventDefault()
      event.stopPropagation()
    })
    this.help = h(
      'button.syntax',
      { type: 'button', 'aria-label': t('How to search') },
      h('span.long', {}, t('How to search')),
      h('span.short', {}, '?'),
    )
    this.root = h(
      'div.search-field',
      { role: 'search' },
      this.input,
      this.help,
      sheetOf(this.help, 'div.syntax-sheet', t('How to search'), () => [syntaxElements()]),
    )
  }

  get words() {
    return this.input.value.trim()
  }

  /** @param {string} words */
  set(words) {
    clearTimeout(this.#soon)
    if (this.words !== words) this.input.value = words
  }

  focus() {
    this.input.focus()
    this.input.select()
  }

  #changedSoon() {
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
    {},
    h(
      'dl',
      {},
      rows.map(([example, meaning]) => [h('dt', {}, h('code', {}, example)), h('dd', {}, meaning)]),
    ),
    h(
      'p.muted',
      {},
      t('Capital letters and accents make no difference. Items are found by name with “Name or id” of the filter.'),
    ),
  )
}
