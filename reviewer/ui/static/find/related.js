// What the table shows in place of the search: similar items, a ranking by examples, the items of a group; and the
// cards of the groups themselves.

import { h } from '../common/dom.js'
import { bodyOf } from '../common/filters.js'
import { getJSON } from '../common/http.js'
import { t, tn, withCommas } from '../common/language.js'
import { Groups, groupName } from './groups.js'
import { Ranking, pagedListing, rowsOf, similarTo } from './ranking.js'
import { countOf, selectionWords } from './selection.js'
import { withVerdictFirst } from './verdict_first.js'

/**
 * @typedef {Object} RelatedItems
 * @property {import('./results.js').Listing} listing
 * @property {string} words what it is
 * @property {string} name proposed for a list of these items
 * @property {number[]} [items] all of them, where not all rows are loaded
 * @property {HTMLElement[]} [buttons]
 */

/**
 * What it uses of the tab.
 * @typedef {Object} RelatedDesk
 * @property {import('../common/filters.js').Filter} filter
 * @property {import('./selection.js').Counted} counted how many items the table shows
 * @property {import('./results.js').Results} results
 * @property {import('./selection.js').Selection} selection
 * @property {import('../common/notices.js').Notices} notices
 * @property {(why: string) => void} dropSelection
 * @property {(listing: import('./results.js').Listing, options?: {words?: string, buttons?: HTMLElement[],
 *   keep?: boolean}) => Promise<void>} show rows in the table
 * @property {(on: boolean) => void} showTable
 * @property {() => void} showGroups
 * @property {() => Promise<void>} showSearch
 */

export class Related {
  /** @type {RelatedItems | null} what the table shows; null: the search */
  shown = null
  /** @type {Ranking | null} */
  #ranking = null
  #ticket = 0 // of what was asked for last: only that is shown

  /** @param {RelatedDesk} desk */
  constructor(desk) {
    this.desk = desk
    this.groups = new Groups({ onOpen: (group) => this.showGroup(group), onClose: () => this.desk.showSearch() })
  }

  /** All items that are shown in place of the search. */
  get items() {
    return this.shown?.items ?? this.desk.results.ids()
  }

  /** Whether the cards of the groups are shown in place of the table. */
  get hasGroups() {
    return !this.groups.root.hidden
  }

  /** The table shows the search again. */
  leave() {
    this.#ticket++
    this.shown = null
    this.#ranking = null
  }

  /**
   * Load and show rows; if it fails, the table stays as it is. An answer that comes after something else was asked for
   * is dropped.
   * @param {() => Promise<RelatedItems>} load @param {Ranking | null} ranking that is shown
   */
  async #show(load, ranking = null) {
    const { desk } = this
    const ticket = ++this.#ticket
    desk.results.setWaiting(true)
    try {
      const related = await load()
      if (ticket !== this.#ticket) return
      if (ranking && ranking !== this.#ranking)
        desk.selection.clear() // it has become the examples
      else desk.dropSelection(t('The table shows other items now, so nothing is selected any more.'))
      this.shown = related
      this.#ranking = ranking
      await desk.show(related.listing, related)
    } catch (error) {
      if (ticket === this.#ticket) desk.notices.error(error)
    } finally {
      if (ticket === this.#ticket) desk.results.setWaiting(false)
    }
  }

  /** The items of the filter that are most similar to one. @param {number} id @param {'text' | 'spectrum'} by */
  showSimilar(id, by) {
    return this.#show(() => similarTo(id, by, this.desk.filter))
  }

  /** Rank the items of the filter by these examples. @param {number[]} examples */
  showRanking(examples) {
    return this.#rank(new Ranking(examples, this.desk.filter))
  }

  /** @param {Ranking} ranking */
  #rank(ranking) {
    return this.#show(async () => {
      await ranking.load()
      return this.#ranked(ranking)
    }, ranking)
  }

  /** @param {Ranking} ranking @returns {RelatedItems} */
  #ranked(ranking) {
    const again = h('button.primary', { onClick: () => this.#rank(ranking) }, t('Rank again'))
    const name = t('like item {number}', { number: withCommas([...ranking.examples]) })
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
    const ticket = this.#ticket
    try {
      const fresh = new Map((await rowsOf(results.rows.map(({ id }) => id))).map((row) => [row.id, row]))
      if (ticket !== this.#ticket) return
      this.#ranking?.update(fresh)
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
    const { total } = desk.counted
    const items = some ? selectionWords(selection) : tn('{n} item', '{n} items', total, { n: countOf(desk.counted) })
    this.#ticket++
    desk.showTable(false)
    await this.groups.start(some ? selection.body() : all, items)
  }

  /** Show the cards again, after the items of one group. @param {ItemGroup} group */
  #backToGroups(group) {
    this.leave()
    this.desk.showGroups()
    this.groups.focus(group)
  }

  /** @param {ItemGroup} group */
  showGroup(group) {
    const back = h('button', { onClick: () => this.#backToGroups(group) }, t('Back to the groups'))
    return this.#show(async () => {
      const { items } = await getJSON(withVerdictFirst(`/api/v1/groups/${group.number}`))
      return {
        listing: pagedListing(items),
        words: t('Group {number}: {name}', { number: group.number, name: groupName(group) }),
        name: t('group: {name}', { name: groupName(group) }),
        items,
        buttons: [back],
      }
    })
  }
}
