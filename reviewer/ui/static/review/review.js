// The Review tab: builds its parts, gives each the parts it works on, and puts them on the page. What a key or a button
// does is in actions.js; what happens by itself is in upkeep.js; parts follow the item shown by the events of state.js.

import { address } from '../common/address.js'
import { fill, h } from '../common/dom.js'
import { keepPageOnDrop } from '../common/file_drops.js'
import { Refused, Unreachable, getJSON, setPerson } from '../common/http.js'
import { Keys, focusDeskAfterClicks } from '../common/keys.js'
import { t } from '../common/language.js'
import { openItem, tabOfFirstLink, tabOpened } from '../common/links.js'
import { Notices } from '../common/notices.js'
import { TopBar } from '../status/page_status.js'
import { openPanel, panelIsOpen } from '../common/panels.js'
import { plotlyReady } from '../common/plotly_ready.js'
import { SidePane } from '../common/side_pane.js'
import { comeBack, deskInFront, openTab } from '../common/tabs.js'
import { toggleTheme } from '../common/theme.js'
import { Comments } from '../comments/comments.js'
import { Unread } from '../comments/unread.js'
import { Tour } from '../help/tour.js'
import { Samp } from '../samp/samp.js'
import { Actions } from './actions.js'
import { DecisionBar } from './decision_bar.js'
import { Decisions } from './decisions.js'
import { Editing } from './editing.js'
import { ItemView } from './item_view.js'
import { Items } from './items.js'
import { Lease } from './lease.js'
import { Linked } from './linked.js'
import { Navigation } from './navigation.js'
import { Queue } from './queue.js'
import { Recovery } from './recovery.js'
import { ReviewState } from './state.js'
import { Statements } from './statements.js'
import { Upkeep } from './upkeep.js'
import { ValueOrder } from './value_order.js'
import { WorkTime } from './work_time.js'

/** Build the tab inside `root` and open the first item that waits. @param {HTMLElement | null} root */
export async function mountReview(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  keepPageOnDrop()
  focusDeskAfterClicks()
  comeBack(tabOfFirstLink(), tabOpened)
  const [me, keymap] = await Promise.all([meOrSignIn(), getJSON('/ui/review/keymap.json'), plotlyReady()])
  setPerson(me.initials)
  document.documentElement.classList.toggle('so-manages', me.rules.solo || me.roles.includes('coordinator'))
  const { handle, upkeep } = buildReview(root, me, keymap)
  const signInAgain = (/** @type {[string, string]} */ ...who) => upkeep.signInAgain(...who)
  window.specO3 = { ...window.specO3, review: handle, signInAgain }
  await upkeep.start()
}

/** @returns {Promise<Person>} */
async function meOrSignIn() {
  try {
    return await getJSON('/api/v1/me')
  } catch (error) {
    if (error instanceof Refused && error.status === 401) location.assign(address(`/sign-in${location.hash}`))
    throw error
  }
}

/** Messages of the Review tab. The connection strip shows a server that does not answer, as long as it lasts. */
class ReviewNotices extends Notices {
  /** @param {any} error */
  error(error) {
    const { kind, message, temporary } = error
    if (error instanceof Unreachable || (temporary && kind !== 'store')) return
    if (!(error instanceof Refused)) console.error(error)
    if (kind === 'store')
      this.show(t('{message} What you write is kept in this browser.', { message }), { until: 'saved' })
    else this.show(message)
  }
}

/** @param {HTMLElement} root @param {Person} me @param {Keymap} keymap */
function buildReview(root, me, keymap) {
  const isActive = () => root.getClientRects().length > 0 && !panelIsOpen()
  const state = new ReviewState(me)
  const notices = new ReviewNotices()
  const actions = new Actions()
  const { act } = actions
  const keys = new Keys(keymap, actions.press, isActive, (text) => notices.toast(text))
  keysOfOtherTabs(keymap, act, (text) => notices.toast(text))
  const topBar = buildTopBar(state, keys, actions)
  const tour = new Tour(me)

  const items = new Items(state)
  const queue = new Queue(state, act)
  const order = new ValueOrder({ state, queue, notices })
  const lease = new Lease({ state, notices })
  const workTime = new WorkTime(state, () => root.getClientRects().length > 0)
  const recovery = new Recovery({ state, notices, topBar, refresh: () => navigation.refresh() })
  const statements = new Statements(state)
  const view = new ItemView({ state, statements, notices, act })
  const editing = new Editing({ state, view, statements, notices })
  const comments = new Comments({ state, view, notices, key: keys.of('comments') })
  const unread = new Unread(state, (id, comment) => {
    comments.goTo(id, comment)
    openItem(id)
  })
  unread.addEventListener('news', () => comments.reload().catch(() => {}))
  const linked = new Linked({ state, items, view, notices })
  const navigation = new Navigation({ state, items, queue, order, lease, recovery, linked, notices })
  const decisions = new Decisions({
    ...{ state, items, navigation, lease, editing, statements },
    ...{ view, workTime, recovery, notices, topBar },
  })

  const queuePane = new SidePane(root, queue.root, {
    ...{ id: 'queue', name: t('Queue'), title: t('show or hide the queue') },
    key: keys.of('queue'),
  })
  const bar = new DecisionBar({ state, statements, keys, act, queueButton: queuePane.button })
  const samp = new Samp({ state, notices, queue })
  actions.connect({
    ...{ root, state, view, editing, decisions, bar, lease, navigation, linked, queue, queuePane },
    ...{ items, comments, statements, notices, tour, keys, samp },
  })

  topBar.state.after(unread.root)
  root.classList.add('so-review', 'so-desk')
  const steps = h('div.steps', notices.line, view.comparison.heads[0], view.versionLine, view.tracePane, comments.root)
  const plots = h('div.plots', view.header, view.pictureOnly, view.spectrumPane)
  fill(root, queue.root, plots, steps, view.comparison.root, view.evidence.root, bar.root, notices.toasts)
  view.evidence.placeIn(root)

  const parts = { root, state, notices, topBar, view, queue, lease, recovery, navigation, bar, tour, isActive }
  return { handle: handleOf({ state, view, lease, queue, navigation, statements }), upkeep: new Upkeep(parts) }
}

/**
 * What other tabs, tests and benchmarks may use of the Review tab.
 * @param {{state: ReviewState, view: ItemView, lease: Lease, queue: Queue, navigation: Navigation,
 *   statements: Statements}} parts
 */
const handleOf = ({ state, view, lease, queue, navigation, statements }) => ({
  ...{ spectrum: view.spectrum, queue, statements },
  get current() {
    return state.current
  },
  get drafting() {
    return state.draft
  },
  get lease() {
    return lease.held
  },
  open: (/** @type {number} */ id) => navigation.open(id),
  /** Show the items of a filter, and open the first one. */
  showFilter: (/** @type {Record<string, string>} */ filter) => navigation.showFilter(filter),
})

/**
 * The keys of the tabs that have none of their own.
 * @param {Keymap} keymap @param {(action: string) => boolean | void} act @param {(text: string) => void} hint
 */
function keysOfOtherTabs({ groups }, act, hint) {
  const ofPage = groups
    .map(({ title, keys }) => ({ title, keys: keys.filter(({ action }) => /^(dark|keys)$/.test(action)) }))
    .filter(({ keys }) => keys.length)
  const press = (/** @type {string} */ action) =>
    action === 'keys' ? void openPanel(t('Keys'), other.sheet()) : act(action)
  const other = new Keys({ groups: ofPage }, press, () => !deskInFront() && !panelIsOpen(), hint)
}

/** @param {ReviewState} state @param {Keys} keys @param {Actions} actions */
function buildTopBar(state, keys, { act }) {
  /** An action of the tab in front; of Review where that tab has no keys. @param {string} action */
  const inFront = (action) => (Keys.inFront() ?? keys).act(action)
  const onTour = () => {
    openTab('review')
    act('tour')
  }
  const help = { onKeys: () => inFront('keys'), onGuide: () => inFront('guide'), onTour }
  const callbacks = { help, onDark: toggleTheme, onVerdictFirst: () => act('verdict-first') }
  const topBar = new TopBar(state.me, callbacks, state.verdictFirst)
  state.on('verdict-first', () => topBar.setVerdictFirst(state.verdictFirst))
  return topBar
}
