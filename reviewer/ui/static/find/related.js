// What the table shows in place of the search: similar items, a ranking by examples, the items of a group; and the
// cards of the groups themselves.

import { h } from '../common/dom.js'
import { bodyOf } from '../common/filters.js'
import { number } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { t, tn } from '../common/language.js'
import { Groups, groupName } from './groups.js'
import { Ranking, pagedListing, rowsOf, similarTo } from './ranking.js'
import { withVerdictFirst } from './verdict_first.js'

/**
 * @typedef {Object} RelatedItems
 * @property {import('./results.js').Listing} listing
 * @property {string} words what it is
 * @property {string} name proposed for a list of these items
 * @property {number[]} [items] all of them, where not all rows are loaded
 * @property {HTMLElement[]} [buttons]
 */

export class Related {
  /** @type {RelatedItems | null} what the table shows; null: the search */
  shown = null
  /** @type {Ranking | null} */
  #ranking = null

  /** @param {import('./find.js').FindDesk} desk */
  constructor(desk) {
    this.desk = desk
    this.groups = new Groups({ onOpen: (group) => this.showGroup(group), onClose: () => this.desk.showSearch() })
  }

  /** All items that are shown in place of the search. */
  get items() {
    return this.shown?.items ?? this.desk.results.ids()
  }

  /** The table shows the search again. */
  leave() {
    this.shown = null
    this.#ranking = null
  }

  /** Load and show rows; if it fails, the table stays as it is. @param {() => Promise<RelatedItems>} load */
  async #show(load) {
    const { desk } = this
    desk.results.setWaiting(true)
    try {
      const found = await load()
      desk.dropSelection(t('The table shows other items now, so nothing is selected any more.'))
      this.shown = found
      await desk.show(found.listing, found)
    } catch (error) {
      desk.notices.error(error)
    } finally {
      desk.results.setWaiting(false)
    }
  }

  /** The items most similar to one. @param {number} id @param {'text' | 'spectrum'} by */
  async showSimilar(id, by) {
    await this.#show(() => similarTo(id, by))
    this.#ranking = null
  }

  /** Rank all items by these examples. @param {number[]} examples */
  showRanking(examples) {
    this.desk.selection.clear() // it has become the examples
    return this.#rank(new Ranking(examples))
  }

  /** @param {Ranking} ranking */
  #rank(ranking) {
    return this.#show(async () => {
      await ranking.load()
      this.#ranking = ranking
      return this.#ranked(ranking)
    })
  }

  /** @param {Ranking} ranking @returns {RelatedItems} */
  #ranked(ranking) {
    const again = h('button.primary', { type: 'button', onClick: () => this.#rank(ranking) }, t('Rank again'))
    const name = t('like item {number}', { number: [...ranking.examples].join(', ') })
    return { listing: ranking.listing(), words: ranking.words, name, buttons: [again] }
  }

  /** Mark a row of the ranking as not alike, or not after all. @param {number} id */
  async notLike(id) {
    const ranking = this.#ranking
    if (!ranking) return
    if (!ranking.toggleUnlike(id)) {
      this.desk.notices.toast(t('One example has to stay.'))
      return
    }
    this.shown = this.#ranked(ranking)
    await this.desk.show(this.shown.listing, { ...this.shown, keep: true })
    this.desk.results.focus(id)
  }

  selectAlike() {
    const { selection } = this.desk
    selection.clear()
    selection.set(this.#ranking?.alike() ?? [], true)
  }

  /** Load the rows again: their states may have changed; their order stays. */
  async refresh() {
    const { results, notices } = this.desk
    try {
      const fresh = new Map((await rowsOf(results.rows.map(({ id }) => id))).map((row) => [row.id, row]))
      results.rows = results.rows.map((row) => ({ ...row, ...fresh.get(row.id) }))
      results.draw()
    } catch (error) {
      notices.error(error)
    }
  }

  /** Group the selected items, or those of the search where none is selected. */
  async group() {
    const { desk } = this
    const { selection } = desk
    const some = selection.count > 0
    const all = this.shown ? { items: this.items } : { filter: bodyOf(desk.filter), without: [] }
    const n = some ? selection.count : desk.results.total
    desk.showTable(false)
    await this.groups.start(some ? selection.body() : all, tn('{n} item', '{n} items', n, { n: number(n) }))
  }

  /** @param {import('./groups.js').Group} group */
  async showGroup(group) {
    const back = h('button', { type: 'button', onClick: () => this.desk.showTable(false) }, t('Back to the groups'))
    await this.#show(async () => {
      const { items } = await getJSON(withVerdictFirst(`/api/v1/groups/${group.number}`))
      return {
        listing: pagedListing(items),
        words: t('Group {number}: {name}', { number: group.number, name: groupName(group) }),
        name: t('group: {name}', { name: groupName(group) }),
        items,
        buttons: [back],
      }
    })
    this.#ranking = null
  }
}
