// The Review tab: queue, trace, spectrum and decision bar, and what happens between them.

import { DecisionBar, verbFor } from './decision_bar.js'
import { fill, h } from './dom.js'
import { Drafting } from './drafting.js'
import { Refused, Unreachable, getJSON, newKey, postJSON, postUntilHeard } from './http.js'
import { drawHeader } from './item_header.js'
import { Items, pictureURL, picturesOf } from './items.js'
import { Keys } from './keys.js'
import * as panels from './panels.js'
import { QueueView } from './queue_view.js'
import { SpectrumView } from './spectrum_view.js'
import { insertAfter, moveStep, newStepId, problems, removeStep, replaceStep, windowOf } from './steps.js'
import { TopBar } from './top_bar.js'
import { TraceView } from './trace_view.js'

const RENEW_EVERY = 60_000
const MARK_OF = { 'mark-supported': 'supported', 'mark-not-supported': 'not supported', 'mark-hallucinated': 'hallucinated feature', 'mark-wrong-frame': 'wrong frame', 'mark-needless': 'needless zoom', 'mark-clear': 'cleared' }
const VERDICT_OF = { 'verdict-yes': 'YES', 'verdict-no': 'NO', 'verdict-cannot-tell': 'cannot tell' }
const SPECTRUM_COMMANDS = ['smooth+', 'smooth-', 'error', 'lines', 'sky', 'template', 'frame', 'redshift', 'reset', 'brush']

/** Build the tab inside `root` and open the first item that waits. */
export async function mountReview(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  const [me, keymap] = await Promise.all([getJSON('/api/me'), getJSON('/ui/keymap.json')])
  const desk = new ReviewDesk(root, me, keymap)
  window.specO3 = { review: desk }
  await desk.start()
}

class ReviewDesk {
  constructor(root, me, keymap) {
    this.root = root
    this.me = me
    this.verdictFirst = localStorage.getItem('so-verdict-first') === 'yes'
    this.items = new Items(() => this.verdictFirst)
    this.keys = new Keys(keymap, (action) => this.act(action), () => root.offsetParent !== null && !panels.panelIsOpen())
    this.#layout()
    this.top = new TopBar(me, { onKeys: () => this.act('keys'), onDark: () => this.act('dark'), onVerdictFirst: () => this.act('verdict-first') }, this.verdictFirst)
    this.queue = new QueueView(this.parts.queue, { onOpen: (id) => this.open(id), onFilter: () => this.#refilter() }, me.tasks)
    this.trace = new TraceView(this.parts.trace, this.#traceCallbacks())
    this.spectrum = new SpectrumView(this.parts.spectrum, {
      onWindow: (lo, hi, { final }) => this.#dragged(lo, hi, final),
      onSelect: (id) => this.select(id, { zoomTo: false }),
      onState: () => {},
    })
    this.bar = new DecisionBar(this.parts.bar, this.keys, {
      onVerb: (verb) => this.decide(verb), onVerdict: (verdict) => this.commitVerdict(verdict), onComment: (text) => this.drafting?.setComment(text),
      onUndo: () => this.undo(), onNext: () => this.next(), onHistory: () => this.act('history'),
    })
    this.opening = 0
    this.current = null
    this.lastDecided = null
    setInterval(() => this.#renew(), RENEW_EVERY)
    addEventListener('beforeunload', () => this.#leaveQuietly())
    document.addEventListener('visibilitychange', () => document.hidden ? this.drafting?.flush() : this.#renew())
  }

  #layout() {
    const parts = this.parts = {
      queue: h('aside.queue'), notice: h('div.notice', { hidden: true, role: 'status' }), trace: h('section', { 'aria-label': 'Trace' }),
      header: h('header.item'), spectrum: h('section.spectrum', { 'aria-label': 'Spectrum' }), bar: h('footer.decision-bar'), toasts: h('div.toasts', { role: 'status' }),
    }
    this.root.classList.add('so-review')
    fill(this.root, parts.queue, h('div.left', {}, parts.notice, parts.trace), h('div.right', {}, parts.header, parts.spectrum), parts.bar, parts.toasts)
    this.root.classList.toggle('no-queue', localStorage.getItem('so-queue') === 'hidden')
  }

  async start() {
    try {
      await this.queue.load()
      const asked = Number(/item=(\d+)/.exec(location.hash)?.[1])
      const id = asked || (await getJSON(`/api/first?${this.queue.query()}`)).id || this.queue.rows[0]?.id
      if (id) await this.open(id)
      else this.#nothing()
    } catch (error) {
      this.#tell(error)
    }
  }

  // ---- opening an item

  async open(id) {
    const ticket = ++this.opening
    this.#leaveQuietly()
    let whole
    try {
      whole = await this.items.whole(id)
    } catch (error) {
      this.#tell(error)
      return
    }
    if (ticket !== this.opening) return
    this.#paint(whole)
    history.replaceState(null, '', `#item=${id}`)
    this.#afterPaint(ticket, whole).catch((error) => this.#tell(error))
  }

  #paint({ item, spectrum, atlas }, { keepView = false } = {}) {
    const sameItem = keepView && this.current?.item.id === item.id
    this.current = { item, spectrum, atlas, hints: sameItem ? this.current.hints : {}, place: sameItem ? this.current.place : null }
    this.decideKey = newKey()
    this.drafting = new Drafting(item.id, item.version.id, item.trajectory.steps, {
      onSaved: (iso) => this.top.saved(iso), onUnsaved: (error) => this.top.unsaved(error.message),
    })
    this.#notice(null)
    this.#restoreUnsent(item)
    this.bar.comment.value = this.drafting.comment
    drawHeader(this.parts.header, { item, spectrum, task: this.me.tasks[item.task.key], onGuide: () => this.act('guide'), toast: (t) => this.toast(t) })
    this.#showTrace()
    this.#showSpectrum(sameItem)
    this.#showBar()
    this.queue.setCurrent(item.id, this.current.place?.before ?? null)
  }

  async #afterPaint(ticket, { item }) {
    const id = item.id
    const still = () => ticket === this.opening && this.current?.item.id === id
    const place = getJSON(`/api/place/${id}?${this.queue.query()}`)
    if (item.row.spectrum) {
      this.items.hintsOf(id, item.stamp).then((hints) => {
        if (!still()) return
        this.current.hints = { ...hints, ...this.current.hints }
        this.trace.refresh({ hints: this.current.hints })
      }).catch((error) => this.#tell(error))
    }
    await this.#lease(id, item, still)
    this.current.place = await place
    if (!still()) return
    this.queue.setCurrent(id, this.current.place.before)
    const { next, back } = this.current.place
    await this.items.prefetch([...next.slice(0, 2), ...back, ...next.slice(2)], (other) => picturesOf(other.trajectory))
  }

  async #lease(id, item, still) {
    this.lease = null
    if (!item.standing.round || (item.may.edit && item.may.verbs.every((v) => v.refusal) && !item.hidden)) return
    try {
      const lease = await postJSON(`/api/item/${id}/lease`, {})
      if (!still()) {
        postJSON('/api/release', { lease: lease.lease }).catch(() => {})
        return
      }
      this.lease = lease
      if (lease.stamp !== item.stamp) await this.#refresh('The item has moved on since it was fetched.')
    } catch (error) {
      if (!(error instanceof Refused) || !still()) throw error
      this.#notice(error.message)
      this.#showBar(error.message)
    }
  }

  /** Show the present state of the same item; what is being typed stays. */
  async #refresh(message) {
    const id = this.current.item.id
    this.items.stale(id)
    const whole = await this.items.whole(id)
    if (this.current?.item.id !== id) return
    const lease = this.lease
    this.#paint(whole, { keepView: true })
    this.lease = lease
    if (message) this.toast(message)
    if (whole.item.row.spectrum) {
      this.current.hints = await this.items.hintsOf(id, whole.item.stamp)
      this.trace.refresh({ hints: this.current.hints })
    }
  }

  #restoreUnsent(item) {
    const unsent = item.autosave
    if (!unsent || item.hidden) return
    const time = new Date(unsent.at).toLocaleTimeString('sv')
    if (unsent.base === item.version.id && item.may.edit === null) {
      this.drafting.restore(unsent.body.steps, unsent.body.comment)
      if (this.drafting.dirty) this.#notice(`Your unsent text of ${time} is here again.`, 'Discard it', () => this.#discard())
    } else if (unsent.base === item.version.id) {
      this.drafting.comment = unsent.body.comment ?? ''
    } else if (unsent.body.steps) {
      this.#notice(`You have unsent text of ${time}, written on an earlier version.`, 'Compare', () =>
        this.#conflict('Your unsent text was written on an earlier version.', unsent.body.steps, item.trajectory.steps, `v${item.version.number} by ${item.version.author ?? 'the drafter'}`))
    }
  }

  async #discard() {
    const { item } = this.current
    await postJSON(`/api/item/${item.id}/discard`, { base: item.version.id, steps: [] }).catch((error) => this.#tell(error))
    await this.#refresh('Discarded.')
  }

  #leaveQuietly() {
    this.drafting?.flush()
    if (this.lease && !this.lease.ended) postJSON('/api/release', { lease: this.lease.lease }).catch(() => {})
    this.lease = null
  }

  async #renew() {
    if (!this.lease || this.lease.ended || document.hidden) return
    try {
      await postJSON('/api/renew', { lease: this.lease.lease })
    } catch (error) {
      if (error instanceof Unreachable) return
      this.lease = null
      this.#notice(`${error.message} Your text is kept.`, 'Take the item again', () => this.#refresh().then(() => this.#lease(this.current.item.id, this.current.item, () => true)))
    }
  }

  #nothing() {
    this.current = null
    fill(this.parts.header, h('strong.name', {}, 'Nothing waits for you'))
    fill(this.parts.trace, h('p.empty', {}, 'Every item under this filter is done, or waits for somebody else. Press / to widen the filter, or bring in more in the Library tab.'))
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
      editedBy: this.#editedBy(), marks: mine, hints: item.row.spectrum ? hints : Object.fromEntries(this.drafting.steps.map((s) => [s.id, []])),
      pictureURL: (step) => pictureURL(item.trajectory, step.picture, step.arguments),
      overviewURL: pictureURL(item.trajectory, item.trajectory.overview, {}), editable: this.editable, markable: !item.hidden && item.standing.round !== null,
      hidden: item.hidden, faults: item.trajectory.faults,
    })
    if (item.marks.others.length) {
      this.parts.trace.prepend(h('details.note', {}, h('summary', {}, `Marks by others: ${item.marks.others.length}`),
        h('ul', {}, item.marks.others.map((m) => h('li', {}, `${m.person} · step ${this.#numberOf(m.step)}: ${m.mark}${m.note ? ` “${m.note}”` : ''}`)))))
    }
  }

  #numberOf = (id) => this.drafting.steps.findIndex((s) => s.id === id) + 1 || id

  #editedBy() {
    const before = new Map(this.drafting.original.map((s) => [s.id, JSON.stringify(s)]))
    const mine = this.drafting.steps.filter((s) => before.get(s.id) !== JSON.stringify(s)).map((s) => [s.id, this.me.initials])
    return { ...this.current.item.edited_by, ...Object.fromEntries(mine) }
  }

  #windows(steps) {
    return steps.map((step, index) => ({ step, number: index + 1 })).filter(({ step }) => step.kind === 'zoom' && windowOf(step))
      .map(({ step, number }) => ({ id: step.id, number, lo: windowOf(step)[0], hi: windowOf(step)[1], frame: step.frame, z: step.z, label: step.arguments.label ?? '' }))
  }

  #showSpectrum(sameItem) {
    const { item, spectrum, atlas } = this.current
    this.parts.spectrum.classList.toggle('absent', spectrum === null)
    if (spectrum === null) return
    if (sameItem) return this.#updateWindows()
    const moved = item.originals.length && JSON.stringify(this.#windows(item.originals)) !== JSON.stringify(this.#windows(item.trajectory.steps))
    this.spectrum.show({
      id: item.id, spectrum, redshift: item.trajectory.redshift ?? spectrum.redshift, windows: this.#windows(this.drafting.steps), lines: atlas.lines, bands: atlas.bands,
      second: moved ? this.#windows(item.originals) : [], editable: this.editable,
    })
    const first = this.drafting.steps.find((s) => s.kind === 'zoom' && windowOf(s))
    if (first) this.select(first.id, { zoomTo: true, scroll: false })
    else if (this.drafting.steps[0]) this.select(this.drafting.steps[0].id, { scroll: false })
  }

  #updateWindows() {
    if (this.current.spectrum) this.spectrum.update({ windows: this.#windows(this.drafting.steps), selected: this.trace.selected })
  }

  #showBar(message = '') {
    const at = this.current
    this.bar.show({ item: at?.item ?? null, dirty: this.drafting?.dirty ?? false, message })
  }

  select(id, { zoomTo = true, scroll = true } = {}) {
    this.trace.select(id, { scroll })
    const step = this.drafting.steps.find((s) => s.id === id)
    if (this.current.spectrum && step?.kind === 'zoom' && windowOf(step)) this.spectrum.select(id, { zoomTo })
  }

  // ---- editing

  #traceCallbacks() {
    return {
      onSelect: (id) => this.select(id, { scroll: false }),
      onText: (id, text) => this.#edit(replaceStep(this.drafting.steps, id, { text }), id),
      onAnswer: (id, change) => this.#edit(replaceStep(this.drafting.steps, id, change), id),
      onWindow: (id, lo, hi) => this.#look(id, lo, hi),
      onLabel: (id, label) => this.#relabel(id, label),
      onMark: (id, mark) => this.mark(id, mark),
      onAdd: (id, kind) => this.#add(id, kind),
      onMove: (id, by) => this.#restep(moveStep(this.drafting.steps, id, by)),
      onRemove: (id) => this.#restep(removeStep(this.drafting.steps, id)),
      onPicture: (url) => panels.openPicture(url),
    }
  }

  /** A change made inside a card, which shows it already. */
  #edit(steps, field) {
    this.drafting.change(steps, { field })
    this.trace.state.steps = steps
    this.trace.state.editedBy = this.#editedBy()
    this.#showBar()
  }

  /** A change made from outside the cards. */
  #restep(steps) {
    if (steps === this.drafting.steps) return
    this.drafting.change(steps)
    this.trace.state.editedBy = this.#editedBy()
    this.trace.setSteps(steps)
    this.#updateWindows()
    this.#showBar()
  }

  async #look(id, lo, hi, label) {
    const step = this.drafting.steps.find((s) => s.id === id)
    const args = { ...step.arguments, wavelength_range: [round(lo), round(hi)] }
    if (label !== undefined) args.label = label
    if (!args.label) delete args.label
    const item = this.current.item.id
    const ticket = (this.looks ??= new Map()).get(id) ?? 0
    this.looks.set(id, ticket + 1)
    try {
      const seen = await postJSON('/api/look', { item, arguments: args })
      if (this.current?.item.id !== item || this.looks.get(id) !== ticket + 1) return
      if (!seen.step.ok) this.toast(seen.step.observation)
      this.current.hints = { ...this.current.hints, [id]: seen.hints }
      this.trace.state.hints = this.current.hints
      this.#restep(replaceStep(this.drafting.steps, id, seen.step))
    } catch (error) {
      this.#tell(error)
      this.trace.setSteps([...this.drafting.steps])
      this.#updateWindows()
    }
  }

  #relabel(id, label) {
    const window = windowOf(this.drafting.steps.find((s) => s.id === id))
    if (window) this.#look(id, window[0], window[1], label)
  }

  #dragged(lo, hi, final) {
    const id = this.trace.selected
    const step = this.drafting?.steps.find((s) => s.id === id)
    if (!step || step.kind !== 'zoom' || !this.editable) return
    if (final) this.#look(id, lo, hi)
    else this.trace.previewWindow(id, round(lo), round(hi))
  }

  async #add(after, kind) {
    if (!this.editable) return
    const steps = this.drafting.steps
    const id = newStepId(steps, this.current.item.originals.map((s) => s.id))
    if (kind === 'think') {
      this.#restep(insertAfter(steps, after, { id, kind: 'think', text: '' }))
      this.select(id)
      this.trace.edit(id)
      return
    }
    if (!this.current.spectrum) return this.toast('This item came without its spectrum, so no window can be drawn.')
    const [lo, hi] = this.spectrum.visibleWindow()
    const { medium, redshift } = this.current.item.trajectory
    const rest = this.current.spectrum.frame === 'observed' && Boolean(redshift)
    const blank = { id, kind: 'zoom', arguments: { wavelength_range: [round(lo), round(hi)] }, frame: rest ? 'rest' : this.current.spectrum.frame, z: rest ? redshift : 0, medium, observation: '', ok: true, picture: null }
    this.#restep(insertAfter(steps, after, blank))
    this.select(id)
    await this.#look(id, lo, hi)
  }

  // ---- acting

  async mark(id, mark, note) {
    const { item } = this.current
    if (item.hidden) return
    const before = item.marks.mine[id]
    const kept = note ?? (mark === 'cleared' ? '' : before?.note ?? '')
    if (mark === 'cleared') delete item.marks.mine[id]
    else item.marks.mine[id] = { mark, note: kept }
    this.trace.refresh({ marks: item.marks.mine })
    try {
      const { at } = await postUntilHeard(`/api/item/${item.id}/mark`, { version: item.version.id, step: id, mark, note: kept, key: newKey() }, (e) => this.top.unsaved(e.message))
      this.top.saved(at)
    } catch (error) {
      if (before) item.marks.mine[id] = before
      else delete item.marks.mine[id]
      this.trace.refresh({ marks: item.marks.mine })
      this.#tell(error)
    }
  }

  async commitVerdict(verdict) {
    const { item } = this.current
    if (!item.hidden) return
    await postUntilHeard(`/api/item/${item.id}/verdict`, { version: item.version.id, verdict }, (e) => this.top.unsaved(e.message))
    this.items.stale(item.id)
    await this.open(item.id)
  }

  /** Save the edits as a version; the new version's id, or null where it was refused (the text is kept). */
  async saveVersion() {
    if (!this.drafting.dirty) return this.current.item.version.id
    await this.drafting.flush()
    const { item } = this.current
    const steps = this.drafting.steps
    try {
      const made = await postUntilHeard(`/api/item/${item.id}/version`, { base: item.version.id, steps, reason: this.drafting.comment, key: newKey(), lease: this.lease?.lease ?? '' }, (e) => this.top.unsaved(e.message))
      this.drafting.close()
      this.top.saved(made.at)
      return made.version
    } catch (error) {
      if (error.kind === 'version_moved') this.#conflict(error.message, steps, error.detail.steps, `v${error.detail.number} by ${error.detail.author ?? '?'}`)
      else this.#tell(error)
      return null
    }
  }

  async #conflict(message, mine, theirs, who) {
    const choice = await panels.openConflict(message, mine, theirs, who)
    if (!choice) return
    await this.#refresh()
    if (choice === 'rebase' && this.editable) this.#restep(mine)
  }

  async decide(verb, { stay = false } = {}) {
    if (this.busy || !this.current || this.current.item.hidden) return
    const { item } = this.current
    const allowed = item.may.verbs.find((v) => v.verb === verb)
    if (!allowed || allowed.refusal) return this.toast(allowed?.refusal ?? `“${verb}” is not for this round.`)
    let reason = ''
    let comment = this.bar.comment.value.trim()
    if (verb === 'reject') {
      const why = await panels.askReason(this.me.reasons, comment)
      if (!why) return
      ;({ reason, comment } = why)
    } else if (verb === 'return' && !comment) {
      comment = await panels.askText('Return to revision: what should be changed?', '', 'Return')
      if (!comment) return
    } else if (verb === 'submit') {
      const missing = problems(this.drafting.steps)
      if (missing.length) return this.#notice(`Not yet: ${missing.join('; ')}.`)
    }
    this.busy = true
    try {
      await this.#send(item, verb, reason, comment, stay)
    } finally {
      this.busy = false
    }
  }

  async #send(item, verb, reason, comment, stay) {
    const following = this.current.place?.next[0] ?? null
    try {
      let version = item.version.id
      if (verb === 'submit') version = await this.saveVersion()
      if (version === null) return
      const answer = await postUntilHeard(`/api/item/${item.id}/decide`, { version, verb, reason, comment, key: this.decideKey, lease: this.lease?.lease ?? '' }, (e) => this.top.unsaved(e.message))
      this.drafting.close()
      if (this.lease) this.lease.ended = true
      this.lastDecided = item.id
      this.top.saved(new Date().toISOString())
      this.items.stale(item.id)
      this.queue.update(item.id, { state: answer.state, ...countsOf(answer.progress) })
      this.toast(`${shown(verb)} · now ${answer.progress}`)
      if (stay) await this.open(item.id)
      else await this.next(following)
    } catch (error) {
      this.decideKey = newKey()
      this.#tell(error)
      if (error instanceof Refused && ['version_moved', 'lease_lost', 'not_allowed'].includes(error.kind)) {
        await this.#refresh(error.message)
        await this.#lease(item.id, this.current.item, () => true)
      }
    }
  }

  async undo() {
    const id = this.current?.item.may.undo ? this.current.item.id : this.lastDecided
    if (!id) return this.toast('There is no decision of yours to take back here.')
    try {
      const answer = await postUntilHeard(`/api/item/${id}/undo`, { key: newKey() }, (e) => this.top.unsaved(e.message))
      this.lastDecided = null
      this.items.stale(id)
      this.queue.update(id, { state: answer.state })
      this.toast(`Taken back · now ${answer.state}`)
      await this.open(id)
    } catch (error) {
      this.#tell(error)
    }
  }

  async next(id = null) {
    const to = id ?? this.current?.place?.next[0] ?? (await getJSON(`/api/first?${this.queue.query()}`)).id
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
        this.current.place = await getJSON(`/api/place/${this.current.item.id}?${this.queue.query()}`)
        this.queue.setCurrent(this.current.item.id, this.current.place.before)
      }
    } catch (error) {
      this.#tell(error)
    }
  }

  #step(by) {
    const steps = this.drafting?.steps ?? []
    const at = steps.findIndex((s) => s.id === this.trace.selected)
    const to = steps[Math.max(0, Math.min(steps.length - 1, at + by))]
    if (to) this.select(to.id)
  }

  /** Every key ends here. False leaves the key to the browser. */
  act(action) {
    const id = this.trace.selected
    if (action in MARK_OF) return void (id && this.mark(id, MARK_OF[action]))
    if (action in VERDICT_OF) return void this.commitVerdict(VERDICT_OF[action])
    if (action === 'brush' && !this.editable) return void this.toast('Windows are changed in the revision round.')
    if (SPECTRUM_COMMANDS.includes(action)) return void this.#command(action)
    if (action.startsWith('decide-')) {
      const stay = action.endsWith('-stay')
      const verb = verbFor(this.current?.item, action.replace('-stay', ''))
      return void (verb ? this.decide(verb, { stay }) : this.toast('There is nothing of that kind to decide in this round.'))
    }
    const does = {
      next: () => this.next(), back: () => this.back(), 'next-undone': () => getJSON(`/api/first?${this.queue.query()}`).then(({ id: to }) => to && this.open(to)),
      filter: () => this.queue.openFilter(), queue: () => this.#toggleQueue(), 'step-next': () => this.#step(1), 'step-back': () => this.#step(-1),
      edit: () => id && (this.trace.edit(id) || this.toast(this.current.item.may.edit)), 'add-zoom': () => this.#add(id, 'zoom'), 'add-think': () => this.#add(id, 'think'),
      'move-up': () => this.editable && this.#restep(moveStep(this.drafting.steps, id, -1)), 'move-down': () => this.editable && this.#restep(moveStep(this.drafting.steps, id, 1)),
      'remove-step': () => this.editable && this.#restep(removeStep(this.drafting.steps, id)), 'edit-undo': () => this.#editUndo(),
      'save-version': () => this.saveVersion().then((made) => made && made !== this.current.item.version.id && this.#refresh('Saved as a version.')),
      'mark-note': () => id && this.#note(id), comment: () => this.bar.focusComment(), undo: () => this.undo(), 'verdict-first': () => this.#toggleVerdictFirst(),
      guide: () => panels.openGuide(this.me.tasks[this.current?.item.task.key]), history: () => this.#history(), dark: () => this.#toggleDark(),
      keys: () => panels.openPanel('Keys', this.keys.sheet(), { wide: true }), escape: () => this.#escape(),
    }[action]
    if (!does) return false
    return does() === false ? false : undefined
  }

  async #command(action) {
    if (action === 'template' && !this.current.template && this.current.spectrum) {
      const { item } = this.current
      this.current.template = await getJSON(`/api/template?${new URLSearchParams({ spectrum: item.row.spectrum, task: item.row.task })}`).catch((error) => this.#tell(error))
      if (!this.current.template) return
      this.spectrum.update({ template: this.current.template })
    }
    this.spectrum.command(action)
  }

  #editUndo() {
    if (!this.editable || !this.drafting.undo()) return false
    this.trace.state.editedBy = this.#editedBy()
    this.trace.setSteps(this.drafting.steps)
    this.#updateWindows()
    this.#showBar()
  }

  async #note(id) {
    const mine = this.current.item.marks.mine[id]
    const note = await panels.askText(`Note on step ${this.#numberOf(id)}`, mine?.note ?? '', 'Keep')
    if (note !== null) await this.mark(id, mine?.mark ?? 'not supported', note)
  }

  async #history() {
    if (!this.current) return
    try {
      await panels.openHistory(await this.items.history(this.current.item.id))
    } catch (error) {
      this.#tell(error)
    }
  }

  #toggleQueue() {
    const hidden = this.root.classList.toggle('no-queue')
    localStorage.setItem('so-queue', hidden ? 'hidden' : 'shown')
  }

  #toggleDark() {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
    document.documentElement.dataset.theme = theme
    document.documentElement.classList.toggle('dark', theme === 'dark')
    document.body.classList.toggle('dark', theme === 'dark')
    localStorage.setItem('so-theme', theme)
    this.spectrum.setTheme(theme)
  }

  async #toggleVerdictFirst() {
    this.verdictFirst = !this.verdictFirst
    localStorage.setItem('so-verdict-first', this.verdictFirst ? 'yes' : 'no')
    this.top.setVerdictFirst(this.verdictFirst)
    this.items.forgetAll()
    this.toast(this.verdictFirst ? 'Your verdict first: answers and earlier votes stay hidden until you have given yours.' : 'Answers are shown at once.')
    if (this.current) await this.open(this.current.item.id)
  }

  #escape() {
    const focused = document.activeElement
    if (focused && focused !== document.body && this.root.contains(focused)) focused.blur()
    if (!this.queue.form.hidden) this.queue.form.hidden = true
  }

  // ---- telling

  #notice(text, action, act) {
    const notice = this.parts.notice
    notice.hidden = !text
    if (text) fill(notice, h('span', {}, text), action && h('button', { type: 'button', onClick: () => { notice.hidden = true; act() } }, action),
      h('button.link', { type: 'button', 'aria-label': 'close', onClick: () => { notice.hidden = true } }, '✕'))
  }

  #tell(error) {
    if (!(error instanceof Refused) && !(error instanceof Unreachable)) console.error(error)
    this.#notice(error.message)
  }

  toast(text) {
    if (!text) return
    const toast = h('div.toast', {}, text)
    this.parts.toasts.append(toast)
    setTimeout(() => toast.remove(), 3500)
  }
}

/** Windows are kept to a tenth of an ångström: finer than any pixel here, and readable. */
const round = (x) => Math.round(x * 10) / 10

const shown = (verb) => ({ keep: 'Kept', submit: 'Submitted', pass: 'Passed', approve: 'Approved', reject: 'Rejected', return: 'Returned', abstain: 'Abstained' })[verb]

const countsOf = (progress) => {
  const counted = /(\d+) of (\d+)/.exec(progress)
  return counted ? { cast: Number(counted[1]), wanted: Number(counted[2]) } : { cast: 0, wanted: 1 }
}
