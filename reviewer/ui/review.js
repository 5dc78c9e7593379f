// The Review tab: queue, trace, spectrum and decision bar, and what happens between them.

import { Actions } from './actions.js'
import { DecisionBar } from './decision_bar.js'
import { fill, h } from './dom.js'
import { Deciding } from './deciding.js'
import { Drafting } from './drafting.js'
import { Editing } from './editing.js'
import { Refused, Unreachable, getJSON, newKey, postJSON } from './http.js'
import { painted } from './idle.js'
import { drawHeader } from './item_header.js'
import { Items, pictureURL, picturesOf } from './items.js'
import { Keys } from './keys.js'
import * as panels from './panels.js'
import { plotlyReady } from './plotly_ready.js'
import { QueueView } from './queue_view.js'
import { keepForNextVisit, lastVisit } from './spectrum_state.js'
import { SpectrumView } from './spectrum_view.js'
import { moveStep, removeStep, replaceStep, windowOf, windowsOf } from './steps.js'
import { comeBack, whenBack } from './tabs.js'
import { onTheme } from './theme.js'
import { TopBar } from './top_bar.js'
import { TraceView } from './trace_view.js'

const RENEW_EVERY = 60_000
/** Build the tab inside `root` and open the first item that waits. */
export async function mountReview(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  comeBack()
  const [me, keymap] = await Promise.all([getJSON('/api/me'), getJSON('/ui/keymap.json'), plotlyReady()])
  const desk = new ReviewDesk(root, me, keymap)
  window.specO3 = { ...window.specO3, review: desk }
  await desk.start()
}

class ReviewDesk {
  constructor(root, me, keymap) {
    this.root = root
    this.me = me
    this.verdictFirst = localStorage.getItem('so-verdict-first') === 'yes'
    this.items = new Items(() => this.verdictFirst)
    this.keys = new Keys(keymap, (action) => this.actions.act(action), () => root.getClientRects().length > 0 && !panels.panelIsOpen())
    this.actions = new Actions(this)
    this.#layout()
    this.top = new TopBar(me, { onKeys: () => (Keys.inFront() ?? this.keys).act('keys'), onDark: () => this.actions.act('dark'), onVerdictFirst: () => this.actions.act('verdict-first') }, this.verdictFirst)
    this.queue = new QueueView(this.parts.queue, { onOpen: (id) => this.open(id), onFilter: () => this.#refilter() }, me)
    this.trace = new TraceView(this.parts.trace, this.#traceCallbacks())
    this.spectrum = new SpectrumView(this.parts.spectrum, {
      onWindow: (lo, hi, { final }) => this.editing.dragged(lo, hi, final),
      onSelect: (id) => this.select(id, { zoomTo: false }),
      onState: keepForNextVisit,
      state: lastVisit(),
    })
    this.bar = new DecisionBar(this.parts.bar, this.keys, {
      onVerb: (verb) => this.deciding.decide(verb), onVerdict: (verdict) => this.deciding.commitVerdict(verdict), onComment: (text) => this.drafting?.setComment(text),
      onUndo: () => this.deciding.undo(), onNext: () => this.next(), onHistory: () => this.actions.act('history'),
    })
    onTheme((theme) => this.spectrum.setTheme(theme))
    this.editing = new Editing(this)
    this.deciding = new Deciding(this)
    this.opening = 0
    this.written = new Map() // by item: it may be left and come back to before the server has what was typed
    this.leaving = new AbortController() // aborted when another item is opened
    this.current = null
    this.lastDecided = null
    setInterval(() => this.#renew(), RENEW_EVERY)
    whenBack(root, () => this.queue.freshen().catch(() => {})) // what is told already is told again by what the person does next
    addEventListener('hashchange', () => {
      const id = Number(/item=(\d+)/.exec(location.hash)?.[1])
      if (id && id !== this.current?.item.id) this.open(id)
    })
    addEventListener('beforeunload', (event) => {
      if (this.drafting?.unheard) event.preventDefault()
      this.#release(this.#leave())
    })
    document.addEventListener('visibilitychange', () => document.hidden ? this.drafting?.flush() : this.#renew())
  }

  #layout() {
    const parts = this.parts = {
      queue: h('aside.queue'), notice: h('div.notice', { hidden: true, role: 'status' }), trace: h('section', { 'aria-label': 'Trace' }),
      header: h('header.item'), spectrum: h('section.spectrum', { 'aria-label': 'Spectrum' }), bar: h('div.decision-bar', { role: 'toolbar', 'aria-label': 'Decision' }), toasts: h('div.toasts', { role: 'status' }),
    }
    this.root.classList.add('so-review', 'so-desk')
    fill(this.root, parts.queue, h('div.left', {}, parts.notice, parts.trace), h('div.right', {}, parts.header, parts.spectrum), parts.bar, parts.toasts)
    this.root.classList.toggle('no-queue', localStorage.getItem('so-queue') === 'hidden')
  }

  async start() {
    try {
      await this.queue.load()
      const asked = Number(/item=(\d+)/.exec(location.hash)?.[1])
      const id = asked || (await getJSON(`/api/first?${this.queue.query()}`)).id || this.queue.rows.find((row) => !row.blind)?.id
      if (id) await this.open(id)
      else this.#nothing()
      const left = this.me.problems.length ? [`Task files left out: ${this.me.problems.join(' · ')}`] : []
      const wrong = [this.me.backups, ...left].filter(Boolean)
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
      this.#release(left)
      this.tell(error)
      return
    }
    if (ticket === this.opening) this.#paint(whole)
    // The person waits for the picture alone; all that the server is told and asked comes after it.
    await painted()
    const released = this.#release(left)
    if (ticket !== this.opening) return
    history.replaceState(null, '', `#item=${id}`)
    this.#afterPaint(ticket, whole, released).catch((error) => this.tell(error))
  }

  #paint({ item, spectrum, atlas }, { keepView = false } = {}) {
    const sameItem = keepView && this.current?.item.id === item.id
    this.current = { item, spectrum, atlas, hints: sameItem ? this.current.hints : {}, place: sameItem ? this.current.place : null, ahead: this.#ahead(item.id) }
    this.decideKey = newKey()
    const former = this.written.get(item.id)
    this.drafting = new Drafting(item.id, item.version.id, item.trajectory.steps, {
      onSaved: (iso) => { this.top.saved(iso); this.over('heard') }, onUnsaved: (error) => this.top.unsaved(error.message),
    })
    this.notice(null)
    this.written.set(item.id, this.drafting)
    if (former && !former.closed && former.base === item.version.id) {
      this.drafting.takeOver(former, item.may.edit === null && !item.hidden)
      if (this.drafting.dirty && !keepView) this.notice('Your unsent text is here again.', 'Discard it', () => this.#discard())
    } else this.#restoreUnsent(item)
    this.bar.comment.value = this.drafting.comment
    drawHeader(this.parts.header, { item, spectrum, task: this.me.tasks[item.task.key], onGuide: () => this.actions.act('guide'), toast: (t) => this.toast(t) })
    this.#showTrace()
    this.#showSpectrum(sameItem)
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
      this.items.hintsOf(id, item.stamp).then((hints) => {
        if (!still()) return
        this.editing.hintsCame(hints)
      }).catch((error) => this.tell(error))
    }
    await released // it may be the same item's, opened again
    await this.takeLease(id, item, still)
    const here = await place
    if (!still()) return
    this.current.place = here
    this.queue.setCurrent(id, this.current.place.before)
    const { next, back } = this.current.place
    await this.items.prefetch([...next.slice(0, 2), ...back, ...next.slice(2)], (other) => picturesOf(other.trajectory), signal)
  }

  async takeLease(id, item, still) {
    this.lease = null
    if (!item.standing.round || (item.may.edit && item.may.verbs.every((v) => v.refusal) && !item.hidden)) return
    try {
      const lease = await postJSON(`/api/item/${id}/lease`, {})
      if (!still()) {
        // Come back to the same item meanwhile, the person has the same lease again.
        if (this.current?.item.id !== id) this.#release(lease)
        return
      }
      this.lease = lease
      if (lease.stamp !== item.stamp) await this.refresh('The item has moved on since it was fetched.')
    } catch (error) {
      if (!(error instanceof Refused) || !still()) throw error
      this.notice(error.message)
      this.showBar(error.message)
    }
  }

  /** Show the present state of the same item; what is being typed stays. */
  async refresh(message) {
    const id = this.current.item.id
    this.items.stale(id)
    const whole = await this.items.whole(id)
    if (this.current?.item.id !== id) return
    const lease = this.lease
    this.#paint(whole, { keepView: true })
    this.lease = lease
    if (message) this.toast(message)
    if (whole.item.row.spectrum) {
      const hints = await this.items.hintsOf(id, whole.item.stamp)
      if (this.current?.item.id === id) this.editing.hintsCame(hints)
    }
  }

  #restoreUnsent(item) {
    const unsent = item.autosave
    if (!unsent || item.hidden) return
    const time = new Date(unsent.at).toLocaleTimeString('sv')
    if (unsent.base === item.version.id && item.may.edit === null) {
      this.drafting.restore(unsent.body.steps, unsent.body.comment)
      if (this.drafting.dirty) this.notice(`Your unsent text of ${time} is here again.`, 'Discard it', () => this.#discard())
    } else if (unsent.base === item.version.id) {
      this.drafting.comment = unsent.body.comment ?? ''
    } else if (unsent.body.steps) {
      this.notice(`You have unsent text of ${time}, written on an earlier version.`, 'Compare', () =>
        this.deciding.conflict('Your unsent text was written on an earlier version.', unsent.base, unsent.body.steps, item.trajectory.steps, `v${item.version.number} by ${item.version.author ?? 'the drafter'}`))
    }
  }

  async #discard() {
    const { item } = this.current
    this.drafting.close()
    await postJSON(`/api/item/${item.id}/discard`, { base: item.version.id, steps: [] }).catch((error) => this.tell(error))
    await this.refresh('Discarded.')
  }

  /** What is typed is sent, and the lease is nobody's until the next one; whoever calls releases it. */
  #leave() {
    this.drafting?.flush()
    const left = this.lease
    this.lease = null
    return left
  }

  async #release(lease) {
    if (lease && !lease.ended) await postJSON('/api/release', { lease: lease.lease }).catch(() => {})
  }

  /** What is known of the items after this one before the server has told its place. */
  #ahead(id) {
    const known = this.current?.place?.next ?? this.current?.ahead ?? []
    return known.includes(id) ? known.slice(known.indexOf(id) + 1) : []
  }

  #place = (id) => getJSON(`/api/place/${id}?${this.queue.query()}`)

  async #renew() {
    if (!this.lease || this.lease.ended || document.hidden) return
    try {
      await postJSON('/api/renew', { lease: this.lease.lease })
    } catch (error) {
      if (error instanceof Unreachable) return
      this.lease = null
      this.notice(`${error.message} Your text is kept.`, 'Take the item again', () => this.refresh().then(() => this.takeLease(this.current.item.id, this.current.item, () => true)))
    }
  }

  #nothing() {
    this.#release(this.#leave())
    this.current = this.drafting = null
    this.parts.spectrum.classList.add('absent')
    fill(this.parts.header, h('strong.name', {}, this.queue.filter.mine === 'true' ? 'Nothing waits for you' : 'No item fits this filter'))
    fill(this.parts.trace, h('p.empty', {}, 'Every item under this filter is done, waits for somebody else, or is in a blind session of yours. Press / to widen the filter, or bring in more in the Library tab.'))
    this.bar.show({ item: null, message: '' })
  }

  // ---- drawing

  get editable() {
    return this.current !== null && this.current.item.may.edit === null
  }

  #showTrace() {
    const { item, hints } = this.current
    const mine = item.marks.mine
    this.trace.show({
      steps: this.drafting.steps, originals: new Map((item.originals.length ? item.originals : item.trajectory.steps).map((s) => [s.id, s])),
      editedBy: this.editedBy(), marks: mine, hints: item.row.spectrum ? hints : Object.fromEntries(this.drafting.steps.map((s) => [s.id, []])),
      pictureURL: (step) => pictureURL(item.trajectory, step.picture, step.arguments),
      overviewURL: pictureURL(item.trajectory, item.trajectory.overview, {}), editable: this.editable, markable: !item.hidden && item.standing.round !== null,
      hidden: item.hidden, faults: item.trajectory.faults,
    })
    if (item.marks.others.length) {
      this.parts.trace.prepend(h('details.note', {}, h('summary', {}, `Marks by others: ${item.marks.others.length}`),
        h('ul', {}, item.marks.others.map((m) => h('li', {}, `${m.person} · step ${this.numberOf(m.step)}: ${m.mark}${m.note ? ` “${m.note}”` : ''}`)))))
    }
  }

  numberOf = (id) => this.drafting.steps.findIndex((s) => s.id === id) + 1 || id

  editedBy() {
    const before = new Map(this.drafting.original.map((s) => [s.id, JSON.stringify(s)]))
    const mine = this.drafting.steps.filter((s) => before.get(s.id) !== JSON.stringify(s)).map((s) => [s.id, this.me.initials])
    return { ...this.current.item.edited_by, ...Object.fromEntries(mine) }
  }

  #showSpectrum(sameItem) {
    const { item, spectrum, atlas } = this.current
    this.parts.spectrum.classList.toggle('absent', spectrum === null)
    if (spectrum === null) return
    if (sameItem) return this.updateWindows()
    const moved = item.originals.length && JSON.stringify(windowsOf(item.originals)) !== JSON.stringify(windowsOf(item.trajectory.steps))
    this.spectrum.show({
      id: item.id, spectrum, redshift: item.trajectory.redshift ?? spectrum.redshift, windows: windowsOf(this.drafting.steps), lines: atlas.lines, bands: atlas.bands,
      second: moved ? windowsOf(item.originals) : [], editable: this.editable,
    })
    const first = this.drafting.steps.find((s) => s.kind === 'zoom' && windowOf(s))
    if (first) this.select(first.id, { zoomTo: true, scroll: false })
    else if (this.drafting.steps[0]) this.select(this.drafting.steps[0].id, { scroll: false })
  }

  updateWindows() {
    if (this.current.spectrum) this.spectrum.update({ windows: windowsOf(this.drafting.steps), selected: this.trace.selected })
  }

  showBar(message = '') {
    const at = this.current
    this.bar.show({ item: at?.item ?? null, dirty: this.drafting?.dirty ?? false, message })
  }

  select(id, { zoomTo = true, scroll = true } = {}) {
    this.trace.select(id, { scroll })
    const step = this.drafting.steps.find((s) => s.id === id)
    if (this.current.spectrum && step?.kind === 'zoom' && windowOf(step)) this.spectrum.select(id, { zoomTo })
  }


  #traceCallbacks() {
    return {
      onSelect: (id) => this.select(id, { scroll: false }),
      onText: (id, text) => this.editing.edit(replaceStep(this.drafting.steps, id, { text }), id),
      onAnswer: (id, change) => this.editing.edit(replaceStep(this.drafting.steps, id, change), id),
      onWindow: (id, lo, hi) => this.editing.look(id, lo, hi),
      onLabel: (id, label) => this.editing.relabel(id, label),
      onMark: (id, mark) => this.deciding.mark(id, mark),
      onAdd: (id, kind) => this.editing.add(id, kind),
      onMove: (id, by) => this.editing.restep(moveStep(this.drafting.steps, id, by)),
      onRemove: (id) => this.editing.restep(removeStep(this.drafting.steps, id)),
      onPicture: (url) => panels.openPicture(url),
      onMistyped: (sentence) => this.toast(sentence),
    }
  }

  async next(id = null) {
    const at = this.current
    // Faster than the server tells what follows: ask, or the key would lead back to the first item that waits.
    if (id === null && at && !at.place && !at.ahead.length) at.place = await this.#place(at.item.id)
    const to = id ?? (at?.place ? at.place.next[0] : at?.ahead[0]) ?? (await getJSON(`/api/first?${this.queue.query()}`)).id
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
    try {
      await this.queue.load()
      if (!this.current) await this.start()
      else {
        this.current.place = await this.#place(this.current.item.id)
        this.queue.setCurrent(this.current.item.id, this.current.place.before)
      }
    } catch (error) {
      this.tell(error)
    }
  }

  // ---- telling

  /** A line over the trace. `until` names what makes it untrue: "edit", the next change; "heard", the server's next answer. */
  notice(text, action, act, until = null) {
    const notice = this.parts.notice
    this.noticeUntil = until
    notice.hidden = !text
    if (text) fill(notice, h('span', {}, text), action && h('button', { type: 'button', onClick: () => { notice.hidden = true; act() } }, action),
      h('button.link', { type: 'button', 'aria-label': 'close', onClick: () => { notice.hidden = true } }, '✕'))
  }

  over(event) {
    if (this.noticeUntil === event) this.notice(null)
  }

  tell(error) {
    if (!(error instanceof Refused) && !(error instanceof Unreachable)) console.error(error)
    this.notice(error.message, null, null, error instanceof Unreachable ? 'heard' : null)
  }

  toast(text) {
    if (!text) return
    for (const same of [...this.parts.toasts.children].filter((t) => t.textContent === text)) same.remove()
    while (this.parts.toasts.children.length > 1) this.parts.toasts.firstChild.remove()
    const toast = h('div.toast', {}, text)
    this.parts.toasts.append(toast)
    setTimeout(() => toast.remove(), 3500)
  }
}
