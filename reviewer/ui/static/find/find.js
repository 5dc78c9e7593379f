// The Find tab: search all traces and comments, select items, and change many at once.

import { lasting, thisTab } from '../common/browser_storage.js'
import { fill, h } from '../common/dom.js'
import { FilterChips, FilterForm, queryOf } from '../common/filters.js'
import { Unreachable, connection, getJSON } from '../common/http.js'
import { Keys } from '../common/keys.js'
import { t, tn } from '../common/language.js'
import { leaveView, takeView } from '../common/links.js'
import { Notices } from '../common/notices.js'
import { panelIsOpen } from '../common/panels.js'
import { SidePane } from '../common/side_pane.js'
import { openTab, whenBack } from '../common/tabs.js'
import { findActions } from './actions.js'
import { Related } from './related.js'
import { ItemActions } from './item_actions.js'
import { Results } from './results.js'
import { RowMenu } from './row_menu.js'
import { SearchField } from './search.js'
import { Selection, SelectionBar, countOf } from './selection.js'
import { withVerdictFirst } from './verdict_first.js'
import { Views, searchOf } from './views.js'

const KEPT_FILTER = 'so-find-filter'
const KEPT_PANE = 'so-find-pane'
const PAGE = 100 // rows of one answer
const RETRY_AFTER = 500 // ms after the server answers again
const MOST_COUNTED = 10_000 // items with words that very many have

/** @typedef {import('../common/filters.js').Filter} Filter */
/** @typedef {import('./results.js').Listing} Listing */

/** Build the tab inside `root`. @param {HTMLElement | null} root */
export async function mountFind(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  const [me, keymap] = await Promise.all([getJSON('/api/v1/me'), getJSON('/ui/find/keymap.json')])
  const desk = new FindDesk(root, me, keymap)
  window.specO3 = { ...window.specO3, find: desk }
  await desk.start()
}

export class FindDesk {
  /** @type {Filter} */
  filter = {}
  /** How many items the table shows. @type {import('./selection.js').Counted} */
  counted = { total: 0, orMore: false }
  /** How many items the search finds. */
  #searched = this.counted
  /** Whether a search has been shown since the page was loaded, and the last one has not failed. */
  #isShown = false
  /** Whether it failed because the server did not answer. */
  #isAway = false
  /** @type {HTMLButtonElement[]} the buttons that need found items */
  forFound = []
  #opening = 0 // of the view opened last: only that one is shown

  /** @param {HTMLElement} root @param {Person} me @param {Keymap} keymap */
  constructor(root, me, keymap) {
    this.root = root
    this.me = me
    this.notices = new Notices()
    this.selection = new Selection()
    const inFront = () => root.getClientRects().length > 0 && !panelIsOpen()
    this.keys = new Keys(keymap, findActions(this), inFront, (text) => this.notices.toast(text))
    this.search = new SearchField({
      onWords: (words) => this.use({ ...this.filter, words }),
      onDown: () => this.results.move(-Infinity),
    })
    // The words that are typed count, also those that are not searched for yet.
    const wordsToo = (filter) => (Object.keys(filter).length ? { ...filter, words: this.search.words } : {})
    this.chips = new FilterChips(me.tasks, (filter) => this.use({ words: this.search.words, ...filter }), ['words'])
    this.form = new FilterForm(me.tasks, (filter) => this.use(wordsToo(filter)), { words: false })
    this.views = new Views(this)
    this.results = new Results(this)
    this.related = new Related(this)
    this.itemActions = new ItemActions(this)
    this.menu = new RowMenu(this)
    this.bar = new SelectionBar(this.selection, this.itemActions.actions(), {
      onAll: () => this.selectAll(),
      onShown: () => this.selection.set(this.results.ids(), true),
    })
    this.total = h('strong.total', { role: 'status' })
    this.about = h('div.about', { hidden: true })
    this.pane = new SidePane(root, h('aside.queue.find-pane'), {
      id: 'find-filter',
      name: t('Filter'),
      title: t('show or hide the filter'),
      key: this.keys.of('pane'),
      onColumn: (hidden) => lasting.set(KEPT_PANE, hidden ? 'hidden' : 'shown'),
    })
    this.#build(root)
    whenBack(root, () => this.refresh())
    addEventListener('so-view', () => this.#openLinked())
    connection.addEventListener('changed', (event) => {
      const { state } = /** @type {CustomEvent} */ (event).detail
      if (state !== 'connected' || !this.#isAway) return
      this.#isAway = false
      setTimeout(() => this.#retry(), RETRY_AFTER)
    })
    // "Done, Undo" belongs to the time before the next selection.
    this.selection.addEventListener('change', () => this.selection.count && this.notices.happened('select'))
  }

  /** @param {HTMLElement} root */
  #build(root) {
    const { itemActions, related } = this
    root.classList.add('so-desk')
    root.classList.toggle('no-queue', lasting.get(KEPT_PANE) === 'hidden')
    const button = (label, title, onClick) => h('button', { title, onClick }, label)
    const past = t('what was done to many items at once, with undo')
    fill(this.pane.pane, this.views.root, h('section', h('h2', t('Filter')), this.form.root))
    this.forFound = [
      button(t('Review these'), t('go through them one by one in Review'), () => itemActions.reviewThese()),
      button(t('Save view …'), t('keep this search under a name, for you or for all'), () => itemActions.saveView()),
      button(t('Groups …'), t('sort them into groups of items that are alike'), () => related.group()),
    ]
    fill(
      root,
      this.pane.pane,
      h(
        'section.find-main',
        { 'aria-label': t('Find') },
        h('div.search-line', this.pane.button, this.search.root),
        this.chips.root,
        h(
          'div.found-line',
          this.total,
          h('span.spring'),
          this.forFound,
          button(t('Past actions …'), past, () => itemActions.openPast()),
        ),
        this.notices.line,
        this.about,
        this.bar.root,
        this.results.root,
        related.groups.root,
      ),
      this.menu.root,
      this.notices.toasts,
    )
  }

  async start() {
    this.filter = thisTab.read(KEPT_FILTER) ?? {}
    this.loadChoices()
    if (!(await this.#openLinked())) await this.showSearch()
  }

  /** Load what can be chosen: values to filter by, and views. */
  loadChoices() {
    this.reported(Promise.all([this.form.load(this.filter), this.views.load()]))
  }

  /** Open the view that a link names; false if there is none. */
  async #openLinked() {
    const id = takeView()
    if (id === null) return false
    await this.openView(id)
    return true
  }

  /** @param {number} id */
  async openView(id) {
    const opening = ++this.#opening
    const failed = (error) => opening === this.#opening && this.notices.error(error)
    const view = await getJSON(`/api/v1/views/${id}`).catch(failed)
    if (opening !== this.#opening) return
    if (!view) return void (await this.showSearch())
    this.pane.close({ refocus: false })
    const shown = this.#search(searchOf(view))
    this.views.setCurrent(id)
    await shown
  }

  /** Search with another filter. @param {Filter} filter */
  use(filter) {
    if (queryOf(filter) !== queryOf(this.filter)) leaveView()
    return this.#search(filter)
  }

  /** @param {Filter} filter */
  async #search(filter) {
    const same = queryOf(filter) === queryOf(this.filter)
    this.filter = filter
    this.#opening++
    if (same && !this.related.shown && !this.related.hasGroups && this.#isShown) return
    if (!same) this.dropSelection(t('The search has changed, so nothing is selected any more.'))
    this.views.setCurrent(null)
    thisTab.set(KEPT_FILTER, JSON.stringify(filter))
    await this.showSearch()
  }

  /** Select nothing, and tell why. @param {string} why */
  dropSelection(why) {
    if (!this.selection.count) return
    this.selection.clear()
    this.notices.toast(why)
  }

  /** Show the search in the table. */
  showSearch() {
    if (this.related.shown) this.dropSelection(t('The table shows the search again, so nothing is selected any more.'))
    this.related.leave()
    this.search.set(this.filter.words ?? '')
    this.chips.show(this.filter)
    // A field that is being filled in keeps its text.
    if (this.form.root.contains(document.activeElement)) this.form.filter = this.filter
    else this.form.show(this.filter)
    return this.show(this.#listing())
  }

  /** @returns {Listing} */
  #listing() {
    const path = withVerdictFirst(`/api/v1/find?${queryOf(this.filter)}&limit=${PAGE}`)
    return { page: (after) => getJSON(after ? `${path}&after=${after.id}` : path) }
  }

  /**
   * Show rows in the table.
   * @param {Listing} listing
   * @param {{words?: string, buttons?: HTMLElement[], keep?: boolean}} options `words`: what is shown, if it is not the
   *   search; `keep`: the rows that are loaded, and the scroll
   */
  async show(listing, { words = '', buttons = [], keep = false } = {}) {
    this.showTable(true)
    this.about.hidden = !words
    const back = h('button', { onClick: () => this.showSearch() }, t('Back to the search'))
    fill(this.about, h('span', words), buttons, back)
    try {
      await this.results.show(listing, { keep })
    } catch (error) {
      this.#failed(error, keep)
    }
  }

  /**
   * That words cannot be searched for is said beside the field: they may not be complete.
   * @param {any} error @param {boolean} keep whether the rows are of the same search
   */
  #failed(error, keep) {
    this.#isShown = false
    this.#isAway = error instanceof Unreachable
    if (error.kind !== 'bad_search') {
      this.results.setWaiting(!keep)
      return this.notices.error(error)
    }
    this.total.textContent = error.message
    this.total.classList.add('look')
    for (const button of this.forFound) button.disabled = true
    this.bar.show({ total: 0, shown: 0, orMore: false })
    return this.results.setWaiting(true)
  }

  /** Show the table, or the groups. @param {boolean} on */
  showTable(on) {
    this.results.root.hidden = this.bar.root.hidden = !on
    this.related.groups.root.hidden = on
    if (!on) this.about.hidden = true
  }

  /** Show the groups of the search again. */
  showGroups() {
    this.dropSelection(t('The table shows other items now, so nothing is selected any more.'))
    this.showTable(false)
    this.#count(this.#searched)
  }

  /** The table has rows. */
  loaded() {
    const { total } = this.results
    this.#isShown = true
    this.#isAway = false
    const counted = { total, orMore: !this.related.shown && total === MOST_COUNTED }
    this.#count(counted)
    if (this.related.shown) return
    this.#searched = counted
    this.selection.setTotal(counted)
  }

  /** Show how many items there are. @param {import('./selection.js').Counted} counted */
  #count(counted) {
    this.counted = counted
    this.total.classList.remove('look')
    this.total.textContent = tn('{n} item', '{n} items', counted.total, { n: countOf(counted) })
    this.bar.show({ ...counted, shown: this.results.ids().length })
    for (const button of this.forFound) button.disabled = !counted.total
  }

  /** Load what the table shows again: others may have changed it. */
  async refresh() {
    this.loadChoices()
    await this.refreshRows()
  }

  async refreshRows() {
    if (this.related.shown) await this.related.refresh()
    else if (!this.related.hasGroups) await this.show(this.#listing(), { keep: true })
  }

  /** The server answers again. */
  #retry() {
    if (this.#isShown || this.related.shown || this.related.hasGroups) return
    this.notices.clear()
    this.show(this.#listing())
  }

  selectAll() {
    if (this.results.root.hidden || !this.bar.total) return
    if (this.related.shown) this.selection.set(this.related.items, true)
    else this.selection.useFilter(this.filter, this.counted)
  }

  /** A view is no more: its search is not shown any longer. @param {View} view */
  viewDeleted({ id, name }) {
    if (this.filter.listed === String(id)) this.use({})
    this.notices.toast(t('The view “{name}” is deleted.', { name }))
  }

  /** What the table says without rows. */
  emptyWords() {
    const { words = '', ...others } = this.filter
    const filtered = Object.values(others).some(Boolean)
    const button = (label, onClick) => h('button', { onClick }, label)
    if (this.related.shown)
      return [
        h('h2', t('Nothing to compare with')),
        h('p', t('No other item can be compared yet. New items are compared in the background: try again soon.')),
      ]
    if (!words && !filtered)
      return [
        h('h2', t('No items yet')),
        h('p', t('Add spectra, or import trajectories, in the Data tab. Then search them here.')),
        button(t('Open Data'), () => openTab('data')),
      ]
    const why = words
      ? t('No trace and no remark has all of these words. Try fewer, or a beginning with a star: absor*.')
      : t('No item fits all parts of the filter.')
    return [
      h('h2', t('Nothing found')),
      h('p', why),
      words && filtered && button(t('Search without the filter'), () => this.use({ words })),
      button(t('Show everything'), () => this.use({})),
    ]
  }

  /** Show the error of something that was begun. @param {Promise<any>} done */
  reported(done) {
    done.catch((error) => this.notices.error(error))
  }
}
