// The Review tab: queue, trace, spectrum and decision bar, and what happens between them.

import { lasting } from '../common/browser_storage.js'
import { fill, h } from '../common/dom.js'
import { Refused, Unreachable, getJSON, newKey, speakFor } from '../common/http.js'
import { painted } from '../common/idle.js'
import { drawHeader } from '../common/item_header.js'
import { Keys } from '../common/keys.js'
import { Notices } from '../common/notices.js'
import { Away, TopBar, comeBackToItem } from '../common/page_status.js'
import * as panels from '../common/panels.js'
import { plotlyReady } from '../common/plotly_ready.js'
import { comeBack, reloadForGradio, whenBack } from '../common/tabs.js'
import { onTheme } from '../common/theme.js'
import { keepForNextVisit, lastVisit } from '../spectrum/controls.js'
import { SpectrumView } from '../spectrum/view.js'
import { windowOf } from '../trace/steps.js'
import { TraceView } from '../trace/view.js'
import { Actions } from './actions.js'
import { DecisionBar } from './decision_bar.js'
import { Deciding } from './decisions.js'
import { Editing } from './editing.js'
import { Drawing } from './item_view.js'
import { Items, picturesOf } from './items.js'
import { Holding } from './lease.js'
import { QueueView } from './queue.js'
import { Unsent } from './recovery.js'

/** Build the tab inside `root` and open the first item that waits. */
export async function mountReview(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  comeBack()
  reloadForGradio()
  const [me, keymap] = await Promise.all([meOrSignIn(), getJSON('/ui/review/keymap.json'), plotlyReady()])
  speakFor(me.initials)
  comeBackToItem(me.initials)
  const desk = new ReviewDesk(root, me, keymap)
  window.specO3 = { ...window.specO3, review: desk }
  await desk.start()
}

async function meOrSignIn() {
  try {
    return await getJSON('/api/me')
  } catch (error) {
    if (error.status === 401) location.assign('/sign-in')
    throw error
  }
}

class ReviewDesk {
  constructor(root, me, keymap) {
    this.root = root
    this.me = me
    this.verdictFirst = lasting.get('so-verdict-first') === 'yes'
    this.items = new Items(() => this.verdictFirst)
    this.keys = new Keys(
      keymap,
      (action) => this.actions.act(action),
      () => root.getClientRects().length > 0 && !panels.panelIsOpen(),
    )
    this.actions = new Actions(this)
    this.#layout()
    this.top = new TopBar(
      me,
      {
        onKeys: () => (Keys.inFront() ?? this.keys).act('keys'),
        onDark: () => this.actions.act('dark'),
        onVerdictFirst: () => this.actions.act('verdict-first'),
      },
      this.verdictFirst,
    )
    this.queue = new QueueView(
      this.parts.queue,
      { onOpen: (id) => this.open(id), onFilter: () => this.#refilter() },
      me,
    )
    this.drawing = new Drawing(this)
    this.trace = new TraceView(this.parts.trace, this.drawing.callbacks())
    this.spectrum = new SpectrumView(this.parts.spectrum, {
      onWindow: (lo, hi, { final }) => this.editing.dragged(lo, hi, final),
      onSelect: (id) => this.select(id, { zoomTo: false }),
      onState: keepForNextVisit,
      state: lastVisit(),
    })
    this.bar = new DecisionBar(this.parts.bar, this.keys, {
      onVerb: (verb) => this.deciding.decide(verb),
      onVerdict: (verdict) => this.deciding.commitVerdict(verdict),
      onComment: (text) => this.drafting?.setComment(text),
      onUndo: () => this.deciding.undo(),
      onNext: () => this.next(),
      onHistory: () => this.actions.act('history'),
    })
    onTheme((theme) => this.spectrum.setTheme(theme))
    this.editing = new Editing(this)
    this.deciding = new Deciding(this)
    this.holding = new Holding(this)
    this.unsent = new Unsent(this, me.initials)
    this.away = new Away(me.initials, () => this.#back())
    this.opening = 0
    this.leaving = new AbortController() // aborted when another item is opened
    this.current = null
    this.lastDecided = null
    whenBack(root, () => this.queue.freshen().catch(() => {})) // what is told already is told again by what the person does next
    addEventListener('hashchange', () => {
      const id = Number(/item=(\d+)/.exec(location.hash)?.[1])
      if (id && id !== this.current?.item.id) this.open(id)
    })
    addEventListener('beforeunload', (event) => {
      if (this.unsent.onlyHere) event.preventDefault()
      this.holding.release(this.#leave())
    })
    document.addEventListener('visibilitychange', () =>
      document.hidden ? this.drafting?.flush() : this.holding.renew(),
    )
  }

  #layout() {
    const parts = (this.parts = {
      queue: h('aside.queue'),
      notice: h('div.notice', { hidden: true, role: 'status' }),
      trace: h('section', { 'aria-label': 'Trace' }),
      header: h('header.item'),
      spectrum: h('section.spectrum', { 'aria-label': 'Spectrum' }),
      bar: h('div.decision-bar', { role: 'toolbar', 'aria-label': 'Decision' }),
      toasts: h('div.toasts', { role: 'status' }),
    })
    this.notices = new Notices(parts.notice, parts.toasts)
    this.root.classList.add('so-review', 'so-desk')
    fill(
      this.root,
      parts.queue,
      h('div.left', {}, parts.notice, parts.trace),
      h('div.right', {}, parts.header, parts.spectrum),
      parts.bar,
      parts.toasts,
    )
    this.root.classList.toggle('no-queue', lasting.get('so-queue') === 'hidden')
  }

  async start() {
    try {
      await this.queue.load()
      const asked = Number(/item=(\d+)/.exec(location.hash)?.[1])
      const id =
        asked || (await getJSON(`/api/first?${this.queue.query()}`)).id || this.queue.rows.find((row) => !row.blind)?.id
      if (id) await this.open(id)
      else this.#nothing()
      const left = this.me.problems.length ? [`Task files left out: ${this.me.problems.join(' · ')}`] : []
      const wrong = [this.me.clock, this.me.backups, ...left].filter(Boolean)
      if (wrong.length) this.notice(wrong.join(' · '))
    } catch (error) {
      this.tell(error)
    }
  }

  // ---- opening an item

  async open(id) {
    const ticket = ++this.opening
    this.leaving.abort()
    this.leaving = new AbortController()
    const left = this.#leave()
    let whole
    try {
      whole = await this.items.whole(id)
    } catch (error) {
      this.holding.release(left)
      this.tell(error)
      return
    }
    if (ticket === this.opening) this.#paint(whole)
    // The person waits for the picture alone; all that the server is told and asked comes after it.
    await painted()
    const released = this.holding.release(left)
    if (ticket !== this.opening) return
    history.replaceState(null, '', `#item=${id}`)
    this.#afterPaint(ticket, whole, released).catch((error) => this.tell(error))
  }

  #paint({ item, spectrum, atlas }, { keepView = false } = {}) {
    const sameItem = keepView && this.current?.item.id === item.id
    this.current = {
      item,
      spectrum,
      atlas,
      hints: sameItem ? this.current.hints : {},
      place: sameItem ? this.current.place : null,
      ahead: this.#ahead(item.id),
    }
    this.decideKey = newKey()
    this.unsent.begin(item, { keepView })
    this.bar.comment.value = this.drafting.comment
    drawHeader(this.parts.header, {
      item,
      spectrum,
      task: this.me.tasks[item.task.key],
      onGuide: () => this.actions.act('guide'),
      toast: (t) => this.toast(t),
    })
    this.drawing.trace()
    this.drawing.spectrum(sameItem)
    this.showBar()
  }

  async #afterPaint(ticket, { item }, released) {
    const id = item.id
    const { signal } = this.leaving
    const still = () => ticket === this.opening && this.current?.item.id === id
    // Somebody who holds the key down waits for this alone.
    for (const soon of this.current.ahead.slice(0, 1)) this.items.whole(soon).catch(() => {})
    const place = this.#place(id)
    place.catch(() => {}) // told where it is waited for
    this.queue.setCurrent(id, null)
    if (item.row.spectrum) {
      this.items
        .hintsOf(id, item.stamp)
        .then((hints) => {
          if (!still()) return
          this.editing.hintsCame(hints)
        })
        .catch((error) => this.tell(error))
    }
    await released // it may be the same item's, opened again
    await this.holding.take(id, item, still)
    const here = await place
    if (!still()) return
    this.current.place = here
    this.queue.setCurrent(id, this.current.place.before)
    const { next, back } = this.current.place
    await this.items.prefetch(
      [...next.slice(0, 2), ...back, ...next.slice(2)],
      (other) => picturesOf(other.trajectory),
      signal,
    )
  }

  /** Show the present state of the same item; what is being typed stays. */
  async refresh(message) {
    const id = this.current.item.id
    this.items.stale(id)
    const whole = await this.items.whole(id)
    if (this.current?.item.id !== id) return
    this.#paint(whole, { keepView: true })
    if (message) this.toast(message)
    if (whole.item.row.spectrum) {
      const hints = await this.items.hintsOf(id, whole.item.stamp)
      if (this.current?.item.id === id) this.editing.hintsCame(hints)
    }
  }

  /** What is typed is sent, and the lease is nobody's until the next one; whoever calls releases it. */
  #leave() {
    this.drafting?.flush()
    return this.holding.leave()
  }

  /** The server is there again, and this person with it: what waits is sent, and the lease asked for that ran out meanwhile. */
  #back() {
    this.unsent.flush()
    if (this.current) this.holding.renew()
    else this.start()
  }

  get lease() {
    return this.holding.lease
  }

  /** What is known of the items after this one before the server has told its place. */
  #ahead(id) {
    const known = this.current?.place?.next ?? this.current?.ahead ?? []
    return known.includes(id) ? known.slice(known.indexOf(id) + 1) : []
  }

  #place = (id) => getJSON(`/api/place/${id}?${this.queue.query()}`)

  #nothing() {
    this.holding.release(this.#leave())
    this.current = this.drafting = null
    this.parts.spectrum.classList.add('absent')
    fill(
      this.parts.header,
      h('strong.name', {}, this.queue.filter.mine === 'true' ? 'Nothing waits for you' : 'No item fits this filter'),
    )
    fill(
      this.parts.trace,
      h(
        'p.empty',
        {},
        'Every item under this filter is done, waits for somebody else, or is in a blind session of yours. Press / to widen the filter, or bring in more in the Library tab.',
      ),
    )
    this.bar.show({ item: null, message: '' })
  }

  // ---- drawing

  get editable() {
    return this.current !== null && this.current.item.may.edit === null
  }

  updateWindows = () => this.drawing.windows()

  showBar(message = '') {
    const at = this.current
    this.bar.show({ item: at?.item ?? null, dirty: this.drafting?.dirty ?? false, message })
  }

  select(id, { zoomTo = true, scroll = true } = {}) {
    this.trace.select(id, { scroll })
    const step = this.drafting.steps.find((s) => s.id === id)
    if (this.current.spectrum && step?.kind === 'zoom' && windowOf(step)) this.spectrum.select(id, { zoomTo })
  }

  async next(id = null) {
    const at = this.current
    // Faster than the server tells what follows: ask, or the key would lead back to the first item that waits.
    if (id === null && at && !at.place && !at.ahead.length) at.place = await this.#place(at.item.id)
    const to =
      id ?? (at?.place ? at.place.next[0] : at?.ahead[0]) ?? (await getJSON(`/api/first?${this.queue.query()}`)).id
    if (to && to !== this.current?.item.id) return this.open(to)
    await this.queue.load()
    if (!this.queue.rows.length) return this.#nothing()
    this.toast('That was the last one under this filter.')
    if (this.current) await this.open(this.current.item.id)
  }

  async back() {
    const to = this.current?.place?.back[0]
    if (to) await this.open(to)
    else this.toast('This is the first item under this filter.')
  }

  async #refilter() {
    // What came next did so under the filter that was.
    if (this.current) Object.assign(this.current, { place: null, ahead: [] })
    try {
      await this.queue.load()
      if (!this.current) await this.start()
      else {
        const at = this.current
        const place = await this.#place(at.item.id)
        if (at !== this.current) return
        at.place = place
        this.queue.setCurrent(at.item.id, place.before)
      }
    } catch (error) {
      this.tell(error)
    }
  }

  // ---- telling

  notice(text, action, act, until = null) {
    this.notices.say(text, action, act, { until })
  }

  over = (event) => this.notices.over(event)

  toast = (text) => this.notices.toast(text)

  /** That the server does not answer, or knows this person no more, is told under the tabs for as long as it is so. */
  tell(error) {
    if (error instanceof Unreachable || (error.passes && error.kind !== 'store')) return
    if (!(error instanceof Refused)) console.error(error)
    const store = error.kind === 'store'
    this.notice(
      store ? `${error.message} What you write is kept in this browser.` : error.message,
      null,
      null,
      store ? 'heard' : null,
    )
  }
}
