// What is done with the selected or found items: actions on many at once, views and lists, Review and blind sessions.

import { newKey, postRepeatable } from '../common/http.js'
import { number } from '../common/format.js'
import { t, tn } from '../common/language.js'
import { openReview } from '../common/links.js'
import { openTab } from '../common/tabs.js'
import { mayChange, mayReject, openBulk } from './bulk.js'
import { doneWords, openPast } from './past_actions.js'
import { MOST_EXAMPLES } from './ranking.js'
import { searchOf } from './views.js'

/**
 * What the actions use of the tab.
 * @typedef {Object} ActionsDesk
 * @property {Person} me
 * @property {import('../common/filters.js').Filter} filter
 * @property {import('../common/filters.js').FilterForm} form
 * @property {import('./selection.js').Selection} selection
 * @property {import('./related.js').Related} related
 * @property {import('./views.js').Views} views
 * @property {import('../common/notices.js').Notices} notices
 * @property {() => void} loadChoices
 * @property {() => Promise<void>} refreshRows
 * @property {(done: Promise<any>) => void} reported
 */

export class ItemActions {
  /** @type {number | null} the last action of this page on many items */
  #last = null

  /** @param {ActionsDesk} desk */
  constructor(desk) {
    this.desk = desk
  }

  /** The buttons of the selection, for those who may. @returns {import('./selection.js').Action[]} */
  actions() {
    const { me, related, selection } = this.desk
    const bulk = (/** @type {import('./bulk_forms.js').BulkKind} */ kind) => () => this.#reported(this.#bulk(kind))
    const change = mayChange(me)
    /** @type {(import('./selection.js').Action & {may?: boolean})[]} */
    const all = [
      {
        name: 'reject',
        label: t('Reject …'),
        title: t('reject the selected items with one reason'),
        danger: true,
        may: mayReject(me),
        act: bulk('reject'),
      },
      { name: 'assign', label: t('Assign …'), title: t('who shall work on them'), may: change, act: bulk('assign') },
      {
        name: 'unassign',
        label: t('Unassign …'),
        title: t('these people need not work on them any more'),
        may: change,
        act: bulk('unassign'),
      },
      { name: 'batch', label: t('Set batch …'), title: t('put them into a batch'), may: change, act: bulk('batch') },
      {
        name: 'blind',
        label: t('Blind session …'),
        title: t('have people score them in a blind session'),
        may: me.roles.includes('coordinator'),
        act: () => this.#reported(this.#blindSession()),
      },
      {
        name: 'list',
        label: t('Save as list …'),
        title: t('keep exactly these items under a name'),
        act: () => this.#reported(this.#saveSelection()),
      },
      {
        name: 'more-like',
        label: t('More like these'),
        title: t('rank all items by their likeness to 1 to {n} selected ones', { n: MOST_EXAMPLES }),
        most: MOST_EXAMPLES,
        act: () => related.showRanking(selection.items),
      },
    ]
    return all.filter(({ may = true }) => may)
  }

  /** @param {import('./bulk_forms.js').BulkKind} kind */
  async #bulk(kind) {
    const { desk } = this
    const { me, selection, form } = desk
    // The people may not be here yet just after the tab was opened.
    if (['assign', 'unassign'].includes(kind) && !form.facets.names) await form.load(desk.filter)
    const { assigned: people = [], names = {}, batch: batches = [] } = form.facets
    const done = await openBulk(kind, me, selection, { people, names, batches })
    if (!done) return
    this.#last = done.id
    selection.clear()
    desk.loadChoices()
    await desk.refreshRows()
    desk.notices.show(doneWords(kind, done.items), {
      label: t('Undo'),
      onClick: () => this.#reported(this.#undo(done.id)),
      until: 'select',
      tone: 'done',
    })
  }

  /** Undo the last action of this page. */
  undoLast() {
    if (this.#last) this.#reported(this.#undo(this.#last))
    else this.desk.notices.toast(t('This page has nothing to undo. See “Past actions”.'))
  }

  /** @param {number} id */
  async #undo(id) {
    const { desk } = this
    const last = this.#last
    if (last === id) this.#last = null // a second press of the key undoes nothing else
    let undone
    try {
      undone = await postRepeatable(`/api/v1/bulk/${id}/undo`, { key: newKey() })
    } catch (error) {
      this.#last ??= last
      throw error
    }
    desk.loadChoices()
    await desk.refreshRows()
    desk.notices.clear()
    desk.notices.toast(
      tn('Undone: {n} item is as it was before.', 'Undone: {n} items are as they were before.', undone.items, {
        n: number(undone.items),
      }),
    )
  }

  openPast() {
    this.#reported(openPast(this.desk.me, (id) => this.#undo(id)))
  }

  /** Save the search as a view; what is not the search, as a list. */
  saveView() {
    this.#reported(this.desk.related.shown ? this.#saveFound() : this.#saveSearch())
  }

  async #saveSearch() {
    const { views, filter, notices } = this.desk
    const view = await views.save({ filter })
    if (!view) return
    views.setCurrent(view.id)
    notices.toast(t('Saved. It is in the list of views.'))
  }

  /** Save what the table shows as a list. @param {string} [about] */
  #saveFound(about) {
    const { items } = this.desk.related
    return this.#saveList(about, { items }, { total: items.length, orMore: false })
  }

  /** Save the selection as a list. @param {string} [about] what it is for */
  #saveSelection(about) {
    const { selection } = this.desk
    return this.#saveList(about, selection.body(), { total: selection.count, orMore: selection.orMore })
  }

  /**
   * @param {string | undefined} about @param {import('./selection.js').SelectionBody} selection
   * @param {import('./selection.js').Counted} counted
   */
  async #saveList(about, selection, counted) {
    const { views, related, notices } = this.desk
    const name = related.shown?.name ?? ''
    const view = await views.save({ selection, counted, name, about })
    if (view) notices.toast(t('Saved. It is in the list of views.'))
    return view
  }

  /** Open Review with the same search; what is not the search is saved as a list first. */
  reviewThese() {
    this.#reported(this.#reviewThese())
  }

  async #reviewThese() {
    let { filter } = this.desk
    if (this.desk.related.shown) {
      const view = await this.#saveFound(t('Review goes through a list of items. Give it a name.'))
      if (!view) return
      filter = searchOf(view)
    }
    openReview()
    await window.specO3.review.showFilter(filter)
  }

  async #blindSession() {
    const view = await this.#saveSelection(
      t('A blind session is made of a list of items. Give it a name, then say in the Blind tab who scores.'),
    )
    if (!view) return
    openTab('blind')
    const blind = await untilBuilt(() => window.specO3.blind)
    await blind.newSession(view.id)
  }

  /** @param {Promise<any>} done */
  #reported(done) {
    this.desk.reported(done)
  }
}

/** Wait until a tab that was opened for the first time is built. @param {() => any} get @returns {Promise<any>} */
async function untilBuilt(get) {
  for (let tries = 0; tries < 200; tries += 1) {
    const element = get()
    if (element) return element
    await new Promise((done) => setTimeout(done, 50))
  }
  throw new Error(t('The tab failed to load. Reload the page.'))
}
