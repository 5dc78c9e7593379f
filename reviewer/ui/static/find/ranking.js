// Items in an order of similarity: to one item, or to a few examples and unlike some others.

import { getJSON, postJSON } from '../common/http.js'
import { t, tn } from '../common/language.js'

export const MOST_EXAMPLES = 20
const LIMIT = 500 // rows of a ranking

/** @typedef {import('./results.js').FoundRow} FoundRow */
/** @typedef {import('./results.js').Listing} Listing */

/**
 * Items in a fixed order, all loaded.
 * @param {FoundRow[]} rows @param {Partial<Listing>} [options] @returns {Listing}
 */
export const listingOf = (rows, options = {}) => ({
  page: async (after) => ({ rows: after ? [] : [...rows], total: rows.length }),
  ...options,
})

/** The rows of items as they are now. @param {number[]} items @returns {Promise<FoundRow[]>} */
export async function rowsOf(items) {
  void items
  return []
}

/** The text of an incomplete index. @param {{indexed: number, items: number}} counts */
const incomplete = ({ indexed, items }) =>
  indexed < items
    ? ` ${t('So far {indexed} of {items} items are compared; the others follow.', { indexed, items })}`
    : ''

/**
 * The items most similar to one.
 * @param {number} id @param {'text' | 'spectrum'} by
 */
export async function similarTo(id, by) {
  const found = await getJSON(`/api/v1/item/${id}/similar?by=${by}`)
  const words =
    by === 'text'
      ? t('Similar to item {number} by the text of the trace, the nearest first.', { number: id })
      : t('Similar to item {number} by the spectrum, the nearest first.', { number: id })
  const name =
    by === 'text'
      ? t('similar to item {number} by text', { number: id })
      : t('similar to item {number} by spectrum', { number: id })
  return { listing: listingOf(found.rows, { scored: true }), words: words + incomplete(found), name }
}

/** Examples, and what is like them. */
export class Ranking {
  /** @param {number[]} examples */
  constructor(examples) {
    this.examples = new Set(examples)
    /** @type {Set<number>} */
    this.unlike = new Set()
    /** @type {FoundRow[]} */
    this.rows = []
    this.cut = 0
    this.note = ''
  }

  async load() {
    const found = await postJSON('/api/v1/similar', {
      examples: [...this.examples],
      counterexamples: [...this.unlike],
      limit: LIMIT,
    })
    this.rows = found.rows
    this.cut = found.cut ?? 0
    this.note = incomplete(found)
  }

  /** Mark an item as not alike, or not after all; false for the last example. @param {number} id */
  toggleUnlike(id) {
    if (this.unlike.delete(id)) return true
    if (this.examples.size === 1 && this.examples.has(id)) return false
    this.examples.delete(id)
    this.unlike.add(id)
    return true
  }

  /** @returns {Listing} */
  listing() {
    const rows = this.rows.map((row) => ({ ...row, mark: this.#markOf(row.id) }))
    return listingOf(rows, { scored: true, ranking: true, cut: this.cut })
  }

  /** The items above the suggested cut. */
  aboveCut() {
    return this.rows.slice(0, this.cut).map(({ id }) => id)
  }

  /** @param {number} id */
  #markOf(id) {
    if (this.unlike.has(id)) return 'not like'
    return this.examples.has(id) ? 'like' : ''
  }

  get words() {
    const like = tn('More like {n} example', 'More like {n} examples', this.examples.size)
    const unlike = this.unlike.size ? `, ${tn('unlike {n} item', 'unlike {n} items', this.unlike.size)}` : ''
    const how = t('Mark rows as “not like these” and rank again until the order is right.')
    return `${like}${unlike}. ${how}${this.note}`
  }
}
