// Cards, numbers and defined words of the Progress tab.

import { fill, h } from '../common/dom.js'
import { number } from '../common/format.js'
import { t } from '../common/language.js'
import { openTab } from '../common/tabs.js'

/** @typedef {import('../common/dom.js').Child} Child */

/** A word with its definition as a tooltip, also for keyboard focus. @param {Child} text @param {string} meaning */
export const defined = (text, meaning) =>
  h('span.defined', { tabIndex: 0 }, text, h('span.meaning', { role: 'tooltip' }, meaning))

/** A card with a heading. */
export class Card {
  /** @param {string} title @param {string} [meaning] */
  constructor(title, meaning) {
    this.title = h('h3')
    this.header = h('header', this.title)
    this.body = h('div.content')
    this.root = h('section.chart', { 'aria-label': title }, this.header, this.body)
    this.name(title, meaning)
  }

  /** @param {string} title @param {string} [meaning] */
  name(title, meaning) {
    fill(this.title, meaning ? defined(title, meaning) : title)
  }

  /** @param {Child} content a text says why there is nothing: then the card is one line */
  show(content) {
    const isLine = typeof content === 'string'
    this.root.classList.toggle('line', isLine)
    fill(this.body, isLine ? h('p.none', content) : content)
  }
}

/** Fill a list with pairs of value and text; a choice that it no longer has is the first one. */
export function options(field, pairs, chosen) {
  const choices = pairs.map(([value, text]) => h('option', { value }, text))
  fill(field, choices)
  field.value = pairs.some(([value]) => value === chosen) ? chosen : (pairs[0]?.[0] ?? '')
  field.disabled = !pairs.length
}

/** A link that shows the items of a filter in Review. @param {Child} text @param {Record<string, string>} filter */
export function queueLink(text, filter, title = '') {
  const onClick = () => {
    openTab('review')
    window.specO3?.review?.queue.use(filter)
  }
  return h('button.link', { title, onClick }, text)
}

/** A value with its interval below it, or the reason why there is none. */
export function estimate({ value, low, high, reason, n }, as = 'percent') {
  if (value === null) return h('span.why', t('undefined: {reason}', { reason }))
  const [factor, digits, unit] = as === 'percent' ? [100, 0, '\u202f%'] : [1, 2, '']
  const format = (/** @type {number} */ share) => number(factor * share, digits)
  const between =
    low === null || high === null
      ? t('no interval: {reason}', { reason })
      : t('{low} to {high}', { low: format(low), high: `${format(high)}${unit}` })
  const words = n === undefined ? between : t('{between}; n = {n}', { between, n: number(n) })
  return [h('strong', `${format(value)}${unit}`), h('span.why', words)]
}
