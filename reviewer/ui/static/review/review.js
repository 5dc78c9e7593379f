// The Review tab: builds the queue, the item's trace and spectrum and the decision bar, and connects them.

import { address } from '../common/address.js'
import { lasting } from '../common/browser_storage.js'
import { fill, h } from '../common/dom.js'
import { keepPageOnDrop } from '../common/file_drops.js'
import { nameGradioParts } from '../help/gradio_names.js'
import { Refused, Unreachable, checkServer, getJSON, setPerson, signIn } from '../common/http.js'
import { DECIDES, Keys, focusDeskAfterClicks } from '../common/keys.js'
import { sentences, t } from '../common/language.js'
import { followLinks, openItem, tabOfFirstLink, tabOpened } from '../common/links.js'
import { Notices } from '../common/notices.js'
import { aboutOf, outbox } from '../status/outbox.js'
import { ConnectionStrip, TopBar } from '../status/page_status.js'
import { openPanel, panelIsOpen } from '../common/panels.js'
import { plotlyReady } from '../common/plotly_ready.js'
import { SidePane } from '../common/side_pane.js'
import { comeBack, openTab, reloadForGradio, whenBack } from '../common/tabs.js'
import { onTheme, toggleTheme } from '../common/theme.js'
import { Comments } from '../comments/comments.js'
import { Unread } from '../comments/unread.js'
import { openRounds } from '../help/menu.js'
import { Tour } from '../help/tour.js'
import { reviewActions } from './actions.js'
import { changeBetween } from './changes.js'
import { DecisionBar } from './decision_bar.js'
import { Decisions, NOT_SENT } from './decisions.js'
import { Editing } from './editing.js'
import { Inspecting } from './inspection.js'
import { ItemView } from './item_view.js'
import { Items } from './items.js'
import { Lease } from './lease.js'
import { Navigation } from './navigation.js'
import { Queue } from './queue.js'
import { Recovery } from './recovery.js'
import { ReviewState } from './state.js'
import { Statements } from './statements.js'
import { ValueOrder } from './value_order.js'
import { WorkTime } from './work_time.js'

const nothingLeft = () =>
  t(
    'Every item under this filter is done, waits for another person, or is in a blind session of ' +
      'yours. Press {key} to widen the filter, or add more in the Library tab.',
    { key: Keys.of('filter') },
  )

/** Build the tab inside `root` and open the first item that waits. @param {HTMLElement | null} root */
export async function mountReview(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  keepPageOnDrop()
  nameGradioParts(document.getElementById('so-tabs') ?? root)
  focusDeskAfterClicks()
  comeBack(tabOfFirstLink(), tabOpened)
  reloadForGradio()
  const [me, keymap] = await Promise.all([meOrSignIn(), getJSON('/ui/review/keymap.json'), plotlyReady()])
  setPerson(me.initials)
  document.documentElement.classList.toggle('so-manages', me.rules.solo || me.roles.includes('coordinator'))
  const page = buildReview(root, me, keymap)
  window.specO3 = { ...window.specO3, review: page.handle, signInAgain: page.signInAgain }
  await page.start()
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

/**
 * Messages of the Review tab. A server that does not answer is shown by the connection strip for as long as it lasts.
 */
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
  const state = new ReviewState(me, lasting.get('so-verdict-first') === 'yes')
  const notices = new ReviewNotices()
  const items = new Items(() => state.verdictFirst)

  const isActive = () => root.getClientRects().length > 0 && !panelIsOpen()
  const keys = new Keys(
    keymap,
    (action) => {
      if (!DECIDES.test(action)) seeRound()
      return act(action)
    },
    isActive,
    (text) => notices.toast(text),
  )
  /** An action of the tab in front; of Review where that tab has no keys. @param {string} action */
  const inFront = (action) => (Keys.inFront() ?? keys).act(action)
  const topBar = new TopBar(
    me,
    {
      help: {
        onKeys: () => inFront('keys'),
        onGuide: () => inFront('guide'),
        onTour: () => {
          openTab('review')
          act('tour')
        },
      },
      onDark: toggleTheme,
      onVerdictFirst: () => act('verdict-first'),
    },
    state.verdictFirst,
  )
  const queue = new Queue(me, () => state.verdictFirst, {
    onOpen: (id) => {
      queuePane.close({ refocus: false })
      return navigation.open(id)
    },
    onFilter: () => navigation.refilter().catch((error) => notices.error(error)),
    onStamp: (stamp) => unread.check(stamp),
  })
  const order = new ValueOrder(
    queue,
    () => state.verdictFirst,
    () => notices.toast(t('No item here can be chosen by value of information; the next ones come by number.')),
  )
  const view = new ItemView({
    state,
    notices,
    spans: () => statements.spans,
    pictureOf: (name) => editing.picture(name),
    onDrag: (lo, hi, final) => editing.dragWindow(lo, hi, final),
    onGuide: () => act('guide'),
    onMedium: (medium) => decisions.setMedium(medium),
    onConfirm: (id) => decisions.confirmAnswer(id),
    inspectionButton: () => inspecting.button(),
    onCopyLink: copyLink,
    onCurrent: () => navigation.readCurrent(),
    onBeside: (id) => reported(navigation.openBeside(id).then((why) => why && notices.show(why))),
    onCloseBeside: () => navigation.closeBeside(),
    cards: {
      onText: (id, text) => editing.setText(id, text),
      onAnswer: (id, change) => editing.setAnswer(id, change),
      onWindow: (id, lo, hi, visit) => editing.setWindow(id, lo, hi, visit),
      onLabel: (id, label) => editing.setLabel(id, label),
      onMark: (id, mark) => decisions.mark(id, mark),
      onAdd: (id, kind) => editing.add(id, kind),
      onMove: (id, by) => editing.move(id, by),
      onRemove: (id) => editing.remove(id),
      onUpdate: (id) => editing.updateNumbers(id),
      onComment: (id) => comments.openStep(id),
    },
  })
  const comments = new Comments({
    state,
    notices,
    key: keys.of('comments'),
    select: (id) => view.select(id),
    onThreads: (threads) => view.showThreads(threads),
    onRead: (id) => {
      queue.update(id, { unread: false })
      unread.load().catch(() => {}) // the connection strip shows a server that is away
    },
  })
  const unread = new Unread(
    () => state.verdictFirst,
    (id, comment) => {
      comments.goTo(id, comment)
      openItem(id)
    },
  )
  unread.addEventListener('news', () => comments.reload().catch(() => {}))
  topBar.state.after(unread.root)
  const inspecting = new Inspecting({ state, view, notices, dropItem: (id) => items.drop(id) })
  const statements = new Statements(state)
  const editing = new Editing({ state, view, statements, notices })
  const queuePane = new SidePane(root, queue.root, {
    ...{ id: 'queue', name: t('Queue'), title: t('show or hide the queue') },
    key: keys.of('queue'),
    onColumn: (hidden) => lasting.set('so-queue', hidden ? 'hidden' : 'shown'),
  })
  const bar = new DecisionBar(
    keys,
    {
      onVerb: (verb) => decisions.decide(verb),
      onCannotTell: () => decisions.cannotTell(),
      onVerdict: (verdict) => decisions.commitVerdict(verdict),
      onComment: (text) => {
        state.draft?.setComment(text)
        lease.want()
      },
      onNewRound: seeRound,
      onUndo: () => decisions.undo(),
      onNext: () => navigation.next(),
      onHistory: () => act('history'),
      onDisagreement: () => view.select(statements.disagreements[0].step),
      onRounds: () => openRounds(me.rules),
    },
    queuePane.button,
  )
  const refresh = () => navigation.refresh()
  const lease = new Lease({
    state,
    notices,
    onOutdated: async () => {
      const { item } = state
      await refresh()
      if (item && state.item?.id === item.id) notices.toast(changeBetween(item, state.item, me.initials))
    },
    onRefused: (message) => showBar(message),
  })
  const workTime = new WorkTime(() => root.getClientRects().length > 0)
  const recovery = new Recovery({ state, notices, topBar, refresh })
  const navigation = new Navigation({
    ...{ state, items, queue, order, lease, editing, notices, view },
    ...{ draw, drawVersion, drawNothing },
  })
  const decisions = new Decisions({
    state,
    lease,
    workTime,
    recovery,
    notices,
    topBar,
    changesMade: () => editing.changesMade(),
    disagreements: () => statements.known ?? [],
    select: (id) => view.select(id),
    showMarks: (marks) => view.showMarks(marks),
    onChanged: (id, change = {}) => {
      items.drop(id)
      queue.update(id, change)
    },
    open: (id) => navigation.open(id),
    next: (id) => navigation.next(id),
    refresh,
  })
  let unsentShown = false
  const tour = new Tour(me.initials)
  const act = reviewActions({
    root,
    state,
    view,
    editing,
    decisions,
    navigation,
    queue,
    items,
    notices,
    keySheet: () => keys.sheet(),
    focusComment: () => bar.focusComment(),
    toggleQueue: () => queuePane.toggle(),
    toggleVerdictFirst,
    comments: () => comments.write(),
    inspect: () => inspecting.open(),
    tour: () => tour.start(),
  })

  root.classList.add('so-review', 'so-desk')
  const left = h('div.left', {}, notices.line, view.beside.heads[0], view.versionLine, view.tracePane, comments.root)
  const right = h('div.right', {}, view.header, view.beside.legend, view.spectrumPane)
  fill(root, queue.root, left, view.beside.root, right, view.evidence.root, bar.root, notices.toasts)
  view.evidence.placeIn(root)
  root.classList.toggle('no-queue', lasting.get('so-queue') === 'hidden')

  /** @param {Promise<unknown>} done */
  const reported = (done) => {
    done.catch((error) => notices.error(error))
  }

  /** @param {LoadedItem} loaded @param {boolean} refreshed @param {Reading | null} [reading] an earlier version */
  function draw(loaded, refreshed, reading) {
    const sameItem = refreshed && state.isShown(loaded.item.id)
    state.setCurrent(loaded, sameItem)
    if (reading) state.reading = reading
    workTime.show(loaded.item.id)
    recovery.begin(loaded.item, refreshed)
    bar.comment.value = state.draft?.comment ?? ''
    queue.setShown(loaded.item.row)
    statements.begin(sameItem)
    view.show(sameItem)
    comments.show(loaded.item)
    showBar()
    if (state.newRound) bar.focusNewRound()
  }

  /** @param {Reading | null} reading */
  function drawVersion(reading) {
    state.reading = reading
    view.show(true)
    showBar()
  }

  function copyLink() {
    const link = `${location.origin}${location.pathname}${navigation.link()}`
    const shown = () => {
      const field = h('input.link-to-copy', { value: link, readOnly: true, 'aria-label': t('Link') })
      queueMicrotask(() => field.select())
      return openPanel(t('Copy this link'), field)
    }
    // Browsers give no access to the clipboard on a page that was not sent over HTTPS.
    if (!navigator.clipboard) return void shown()
    navigator.clipboard.writeText(link).then(() => notices.toast(t('Link copied.')), shown)
  }

  function drawNothing() {
    workTime.show(null)
    queue.setShown(null)
    comments.show(null)
    view.showNothing(queue.onlyMine ? t('Nothing waits for you') : t('No item fits this filter'), nothingLeft())
    showBar()
  }

  function showBar(message = '') {
    const { item, reading, newRound } = state
    const disagreements = item && !reading ? statements.disagreements.length : 0
    unsentShown = isUnsent()
    const refusal = reading ? state.editRefusal : unsentShown && NOT_SENT
    const shown = item && refusal ? toReadOnly(item, refusal) : item
    bar.show({ item: shown, dirty: state.dirty, disagreements, message, newRound: reading ? '' : newRound })
  }

  /** The person has seen that the item is in another round: they said so, or did something with it. */
  function seeRound() {
    if (!state.newRound) return
    state.newRound = ''
    showBar()
  }

  /** Whether this person's decision on the item shown waits to be sent. */
  function isUnsent() {
    return state.item !== null && outbox.isUnsent(state.item.id)
  }

  /**
   * Something that an earlier page had left was sent: no other part of this page knows of it.
   * @param {import('../status/outbox.js').Entry} entry @param {Record<string, any>} body
   */
  async function sentLate({ item, kind, name, version }, body) {
    if (item === null) return
    if (kind === 'decision' && version) recovery.forgetComment(item, version.id, body.comment)
    items.drop(item)
    notices.toast(t('#{item} {name}: sent.', { item, name }))
    await queue.refresh()
    if (state.isShown(item)) await refresh()
  }

  async function toggleVerdictFirst() {
    const on = !state.verdictFirst
    state.verdictFirst = on
    lasting.set('so-verdict-first', on ? 'yes' : 'no')
    topBar.setVerdictFirst(on)
    items.dropAll()
    queue.load().catch((error) => notices.error(error))
    unread.load().catch(() => {}) // the connection strip shows that the server does not answer
    const hidden = t(
      'Your verdict first: names, thoughts, answers and votes stay hidden until you have given ' + 'yours.',
    )
    notices.toast(on ? hidden : t('“Verdict first” is off: answers are visible.'))
    if (state.item) await navigation.open(state.item.id)
  }

  async function start() {
    try {
      await navigation.start()
      const leftOut = me.problems.length
        ? [t('Task files left out: {problems}', { problems: me.problems.join(' · ') })]
        : []
      const warnings = [me.clock, me.backups, ...leftOut].filter(Boolean)
      if (warnings.length) notices.show(warnings.join(' · '))
      if (isActive() && state.current) tour.startOnce()
    } catch (error) {
      notices.error(error)
    }
  }

  /** The server answers this person again: send what is unsent, and request a lease that has run out or is missing. */
  function reconnected() {
    recovery.flush()
    if (!state.current) start()
    else if (state.dirty && !lease.held && !lease.heldByOther) lease.want()
    else lease.renew()
  }

  outbox.addEventListener('change', () => {
    if (isUnsent() !== unsentShown) showBar()
  })
  outbox.addEventListener('sent', (event) => {
    const { entry, body } = /** @type {CustomEvent} */ (event).detail
    if (entry.restored) reported(sentLate(entry, body))
  })
  outbox.addEventListener('refused', (event) => {
    const { entry } = /** @type {CustomEvent} */ (event).detail
    notices.toast(sentences(t('{what}: not accepted.', { what: aboutOf(entry) }), entry.refused))
  })
  outbox.begin(me.initials, lease)
  root.addEventListener('pointerdown', ({ target }) => {
    if (!(target instanceof Node && bar.root.contains(target))) seeRound()
  })
  state.addEventListener('steps', () => {
    lease.want()
    notices.happened('edit')
    showBar()
  })
  statements.addEventListener('change', () => {
    view.showSpans(statements.spans)
    showBar()
  })
  onTheme((theme) => view.spectrum.setTheme(theme))
  followLinks({
    onItem: (link) => reported(navigation.follow(link)),
    onBatch: (batch) => reported(navigation.showFilter({ batch })),
  })
  new ConnectionStrip(me, reconnected)
  whenBack(root, () => queue.refresh().catch(() => {})) // the connection strip shows that the server does not answer
  addEventListener('beforeunload', (event) => {
    if (recovery.onlyOnPage || outbox.onlyOnPage) event.preventDefault()
    lease.release(navigation.leave())
  })
  document.addEventListener('visibilitychange', () => (document.hidden ? state.draft?.flush() : lease.renew()))

  /**
   * The person has set a password, which ended their session: sign in with it.
   * @param {string} initials @param {string} password
   */
  async function signInAgain(initials, password) {
    try {
      await signIn(initials, password)
      Object.assign(me, await getJSON('/api/v1/me'))
      topBar.setPerson(me)
    } catch {
      checkServer() // nobody is signed in: the strip says so
    }
  }

  return { start, signInAgain, handle: new ReviewHandle({ state, view, lease, queue, navigation, statements }) }
}

/**
 * An item on which nothing can be decided, because an earlier version of it is shown.
 * @param {Item} item @param {string} refusal @returns {Item}
 */
function toReadOnly(item, refusal) {
  const verbs = item.may.verbs.map((verb) => ({ ...verb, refusal, refusal_if_changed: refusal }))
  return { ...item, may: { ...item.may, edit: refusal, verbs } }
}

/** What other tabs, tests and benchmarks may use of the Review tab. */
class ReviewHandle {
  #parts

  /**
   * @param {{state: ReviewState, view: ItemView, lease: Lease, queue: Queue, navigation: Navigation,
   *   statements: Statements}} parts
   */
  constructor(parts) {
    this.#parts = parts
    this.spectrum = parts.view.spectrum
    this.queue = parts.queue
    this.statements = parts.statements
  }

  get current() {
    return this.#parts.state.current
  }

  get drafting() {
    return this.#parts.state.draft
  }

  get lease() {
    return this.#parts.lease.held
  }

  /** @param {number} id */
  open(id) {
    return this.#parts.navigation.open(id)
  }

  /** Show the items of a filter, and open the first one. @param {Record<string, string>} filter */
  showFilter(filter) {
    return this.#parts.navigation.showFilter(filter)
  }
}
