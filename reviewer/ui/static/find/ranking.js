// Items in an order of likeness: to one item, or to a few examples and unlike some others.

import { bodyOf, queryOf } from '../common/filters.js'
import { getJSON, postJSON } from '../common/http.js'
import { withVerdictFirst } from './verdict_first.js'
import { number } from '../common/format.js'
import { sentences, t, tn } from '../common/language.js'

export const MOST_EXAMPLES = 20
const MOST_ROWS = 500 // of a ranking
const PAGE = 100 // rows of one answer
const MOST_SIMILAR = 100
const MOST_REASONS = 3 // shown
const FEWEST = 3 // examples that can show what is typical of them

/** @typedef {import('./rows.js').FoundRow} FoundRow */
/** @typedef {import('./results.js').Listing} Listing */
/** @typedef {import('../common/filters.js').Filter} Filter */

/** Items in a fixed order, all loaded. @param {FoundRow[]} rows @param {Partial<Listing>} options @returns {Listing} */
const listingOf = (rows, options) => ({
  page: async (after) => ({ rows: after ? [] : [...rows], total: rows.length }),
  ...options,
})

/** Items by number, whose rows are loaded while one scrolls. @param {number[]} items @returns {Listing} */
export const pagedListing = (items) => ({
  page: async (after) => {
    const from = after ? items.indexOf(after.id) + 1 : 0
    return { rows: await rowsOf(items.slice(from, from + PAGE)), total: items.length }
  },
})

/** The rows of items as they are now. @param {number[]} items @returns {Promise<FoundRow[]>} */
export async function rowsOf(items) {
  const rows = []
  for (let at = 0; at < items.length; at += MOST_ROWS) {
    const some = { items: items.slice(at, at + MOST_ROWS) }
    rows.push(...(await postJSON(withVerdictFirst('/api/v1/find/rows'), some)).rows)
  }
  return rows
}

/** What is said of items that are not compared yet. */
function incomplete({ indexed, items, complete }) {
  if (complete || indexed >= items) return ''
  const values = { indexed: number(indexed), items: number(items) }
  return t('So far {indexed} of {items} items are compared; the others follow.', values)
}

/** Which items were compared. @param {Filter} filter */
const compared = (filter) => (queryOf(filter) ? t('Only items of the filter are listed.') : '')

/**
 * The items of a filter that are most similar to one.
 * @param {number} id @param {'text' | 'spectrum'} by @param {Filter} filter
 */
export async function similarTo(id, by, filter) {
  const query = `by=${by}&limit=${MOST_SIMILAR}&${queryOf(filter)}`
  const answer = await getJSON(withVerdictFirst(`/api/v1/item/${id}/similar?${query}`))
  const [words, name] =
    by === 'text'
      ? [
          t('Similar to item {number} by the text of the trace, the nearest first.', { number: id }),
          t('similar to item {number} by text', { number: id }),
        ]
      : [
          t('Similar to item {number} by the spectrum, the nearest first.', { number: id }),
          t('similar to item {number} by spectrum', { number: id }),
        ]
  const all = sentences(words, compared(filter), answer.note, incomplete(answer))
  return { listing: listingOf(answer.rows, { scored: true }), words: all, name }
}

/** Examples, and what is like them. */
export class Ranking {
  /** @type {FoundRow[]} the examples, then all others by likeness */
  #rows = []
  /** @type {number[]} the items above the cut, without the examples */
  #above = []
  /** @type {string[]} what the examples have in common */
  #reasons = []
  #note = ''
  #few = false // whether the examples are too few to show what they have in common
  /** @type {Set<number>} the examples with which it began */
  #given

  /** @param {number[]} examples @param {Filter} filter of the items that are ranked */
  constructor(examples, filter) {
    this.filter = filter
    this.examples = new Set(examples)
    this.#given = new Set(examples)
    /** @type {Set<number>} */
    this.unlike = new Set()
  }

  async load() {
    const examples = [...this.examples]
    const filter = queryOf(this.filter) ? bodyOf(this.filter) : null
    const request = { examples, counterexamples: [...this.unlike], filter, limit: MOST_ROWS }
    const [answer, own] = await Promise.all([postJSON(withVerdictFirst('/api/v1/similar'), request), rowsOf(examples)])
    this.#rows = [...own, ...answer.rows]
    this.#above = answer.ids
    this.#reasons = answer.reasons.map(({ text }) => text)
    this.#few = answer.few
    this.#note = incomplete(answer)
  }

  /** The rows have changed on the server. @param {Map<number, FoundRow>} fresh by number */
  update(fresh) {
    this.#rows = this.#rows.map((row) => ({ ...row, ...fresh.get(row.id) }))
  }

  /** Mark an item as not alike, or as before; false for the last example. @param {number} id */
  toggleUnlike(id) {
    if (this.unlike.delete(id)) {
      if (this.#given.has(id)) this.examples.add(id)
      return true
    }
    if (this.examples.size === 1 && this.examples.has(id)) return false
    this.examples.delete(id)
    this.unlike.add(id)
    return true
  }

  /** @returns {Listing} */
  listing() {
    const rows = this.#rows.map((row) => ({ ...row, mark: this.#markOf(row.id) }))
    const own = rows.filter(({ score }) => score === undefined).length
    const cut = this.#above.length ? { rows: own + this.#above.length, items: this.#above.length } : null
    return listingOf(rows, { scored: true, ranking: true, cut })
  }

  /** The examples and the items above the suggested cut, without those that are marked as not alike. */
  alike() {
    return [...new Set([...this.examples, ...this.#above])].filter((id) => !this.unlike.has(id))
  }

  /** @param {number} id */
  #markOf(id) {
    return this.unlike.has(id) ? 'unlike' : this.examples.has(id) ? 'like' : ''
  }

  #how() {
    if (this.#few) {
      const few = t(
        'So few examples do not show what is typical of them: the order is by how near text and spectrum are.',
      )
      return sentences(few, t('Select {n} or more for a suggested cut.', { n: FEWEST }))
    }
    if (this.#above.length) return t('Mark rows as “not like these” and rank again until the order is right.')
    return t(
      'No cut can be suggested: your examples have too little in common that the other items lack. Select more, or ' +
        'mark rows as “not like these” and rank again.',
    )
  }

  get words() {
    const [{ size: likes }, { size: unlikes }] = [this.examples, this.unlike]
    const examples = tn('{n} example', '{n} examples', likes)
    const others = tn('{n} item', '{n} items', unlikes)
    const like = unlikes
      ? t('More like {examples}, unlike {others}.', { examples, others })
      : tn('More like {n} example.', 'More like {n} examples.', likes)
    const reasons = sentences(...this.#reasons.slice(0, MOST_REASONS))
    const common = reasons && t('In common: {reasons}', { reasons })
    return sentences(like, compared(this.filter), common, this.#how(), this.#note)
  }
}
