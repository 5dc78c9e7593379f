// The scoring page: places, one trace or two, the spectrum, the form, and what happens between them.

import { cap, fill, h } from '../common/dom.js'
import { Unreachable, postJSON } from '../common/http.js'
import { Keys } from '../common/keys.js'
import { Notices } from '../common/notices.js'
import * as panels from '../common/panels.js'
import { onTheme } from '../common/theme.js'
import { keepForNextVisit, lastVisit } from '../spectrum/controls.js'
import { SpectrumView } from '../spectrum/view.js'
import { windowOf, windowsOf } from '../trace/steps.js'
import { TraceView } from '../trace/view.js'
import { BlindActions } from './actions.js'
import { BlindForm, Places } from './form.js'
import { Answer, Sheets } from './sheets.js'

const WRONG = [{ mark: 'wrong', short: 'this claim is wrong', key: 'w' }]
const SIDES = ['left', 'right']

export class BlindDesk {
  /** @param {{me: Object, keymap: Object, inFront: () => boolean, onSessions: (() => void) | null}} given */
  constructor(root, { me, keymap, inFront, onSessions }) {
    this.root = root
    this.me = me
    this.work = []
    this.at = 0 // which of the sessions
    this.side = 0 // of a pair, the trace that the arrows walk
    this.current = null
    this.opening = 0
    this.sheets = new Sheets()
    this.actions = new BlindActions(this)
    this.keys = new Keys(
      keymap,
      (action) => this.actions.act(action),
      () => inFront() && !panels.panelIsOpen(),
    )
    this.#layout(onSessions)
    onTheme((theme) => this.spectrum.setTheme(theme))
  }

  #layout(onSessions) {
    const parts = (this.parts = {
      places: h('aside.queue'),
      notice: h('div.notice', { hidden: true, role: 'status' }),
      traces: SIDES.map((side) => h('section', { 'aria-label': `Trace on the ${side}` })),
      header: h('header.item'),
      spectrum: h('section.spectrum', { 'aria-label': 'Spectrum' }),
      form: h('div.blind-form', { role: 'form', 'aria-label': 'Answer' }),
      toasts: h('div.toasts', { role: 'status' }),
    })
    this.heads = SIDES.map((side, at) =>
      h(`button.side.so-${side}`, { type: 'button', hidden: true, onClick: () => this.lookAt(at) }, side),
    )
    this.notices = new Notices()
    parts.notice = this.notices.line
    parts.toasts = this.notices.toasts
    this.root.classList.add('so-desk', 'blind')
    this.root.tabIndex = -1
    fill(
      this.root,
      parts.places,
      h('div.left', {}, parts.notice, this.heads[0], parts.traces[0]),
      h('div.left.second', {}, this.heads[1], parts.traces[1]),
      h('div.right', {}, parts.header, parts.spectrum),
      parts.form,
      parts.toasts,
    )
    this.places = new Places(parts.places, {
      onOpen: (token) => this.open(token),
      onSession: (at) => this.#session(at),
      onSessions,
    })
    this.views = parts.traces.map(
      (part, at) =>
        new TraceView(part, {
          onSelect: (id) => this.select(at, id, { scroll: false }),
          onPicture: panels.openPicture,
          onMark: (id) => this.markWrong(id),
        }),
    )
    this.spectrum = new SpectrumView(parts.spectrum, {
      onSelect: (id) => this.select(id.startsWith('right') ? 1 : 0, id),
      onState: keepForNextVisit,
      state: lastVisit(),
    })
    this.form = new BlindForm(parts.form, {
      onScore: (scale, value) => this.score(scale, value),
      onFront: (scale) => this.bringForward(scale),
      onChoose: (choice) => this.choose(choice),
      onComment: (comment) => this.#said({ comment }, { draw: false }),
      onSave: () => this.save(),
    })
  }

  get session() {
    return this.work[this.at]
  }

  get pair() {
    return this.current?.sheet.kind === 'pair'
  }

  /** The sessions as the server has them now. What is in front stays, if it is still asked. */
  async show(work) {
    const session = this.session?.session
    this.work = work
    const same = work.findIndex((one) => one.session === session)
    const waiting = work.findIndex((one) => one.places.some((place) => !place.answered))
    this.at = Math.max(0, same >= 0 ? same : waiting)
    if (!work.length) return this.#nothing()
    this.root.classList.remove('nothing')
    const known = this.session.places.some((place) => place.token === this.current?.sheet.token)
    if (known) this.#drawPlaces()
    else await this.#resume()
    this.#takeFocus()
  }

  async #session(at) {
    this.at = at
    await this.#resume()
  }

  /** The first that waits; if none does, the last one. */
  #resume() {
    const { places } = this.session
    return this.open((places.find((place) => !place.answered) ?? places.at(-1)).token)
  }

  #nothing() {
    this.current = null
    this.root.classList.add('nothing')
    fill(
      this.parts.traces[0],
      h(
        'div.empty',
        {},
        h('h3', {}, 'Nothing to score'),
        h('p', {}, 'When a coordinator opens a blind session that asks you, it is here.'),
      ),
    )
  }

  async open(token) {
    const ticket = ++this.opening
    try {
      const whole = await this.sheets.whole(token)
      if (ticket === this.opening) this.#paint(whole)
    } catch (error) {
      if (ticket === this.opening) this.tell(error)
    }
  }

  #paint(whole) {
    const { sheet, traces, spectrum, atlas } = (this.current = whole)
    this.answer = new Answer(this.me.initials, sheet)
    this.notice(this.answer.restored ? 'Your answer is here again as you left it. It has not been saved yet.' : null)
    this.root.classList.toggle('pair', this.pair)
    for (const head of this.heads) head.hidden = !this.pair
    this.side = 0
    traces.forEach((trace, at) => {
      this.views[at].selected = null
      this.views[at].show(this.#state(trace))
    })
    fill(
      this.parts.header,
      h(
        'div.who',
        {},
        h('strong.name', { title: 'what the agent was asked' }, `${sheet.question.title}?`),
        h('span.spring'),
        h('span.muted', {}, `${sheet.place} of ${sheet.of}`),
        ...[
          ['g', 'guide'],
          ['?', 'rubric'],
        ].map(([key, word]) =>
          h(
            'button.guide',
            { type: 'button', onClick: () => this.actions.act(key === 'g' ? 'guide' : 'keys') },
            cap(key),
            ` ${word}`,
          ),
        ),
      ),
    )
    this.parts.spectrum.classList.toggle('absent', spectrum === null)
    if (spectrum)
      this.spectrum.show({
        id: sheet.token,
        spectrum,
        redshift: spectrum.redshift,
        windows: this.#windows(),
        lines: atlas.lines,
        bands: atlas.bands,
        editable: false,
      })
    this.#first()
    this.form.show(this.session.rubric, this.answer)
    this.form.tell(this.answer.changed ? 'not saved yet' : sheet.mine ? 'saved' : '')
    this.#drawPlaces()
    this.#ahead()
    this.#takeFocus()
  }

  /** Off the button that led here, which Enter would press again, and onto the page, where it saves. */
  #takeFocus() {
    const at = document.activeElement
    if (!panels.panelIsOpen() && !this.root.contains(at) && this.root.getClientRects().length)
      this.root.focus({ preventScroll: true })
    else if (at?.matches('.place, .comment')) this.root.focus({ preventScroll: true })
  }

  #state(trace) {
    return {
      steps: trace.steps,
      originals: new Map(),
      editedBy: {},
      marks: this.#marks(),
      hints: Object.fromEntries(trace.steps.map((step) => [step.id, []])),
      faults: [],
      pictureURL: trace.pictureURL,
      overviewURL: trace.overviewURL,
      editable: false,
      markable: !this.pair,
      offered: WRONG,
      hidden: false,
    }
  }

  #marks() {
    return Object.fromEntries((this.answer.said.wrong_steps ?? []).map((step) => [step, { mark: 'wrong' }]))
  }

  #windows() {
    return this.current.traces.flatMap(({ side, steps }) =>
      windowsOf(steps).map((window) =>
        side
          ? { ...window, side, noun: `${side} step`, number: `${side === 'left' ? 'L' : 'R'}${window.number}` }
          : window,
      ),
    )
  }

  #first() {
    for (const at of this.current.traces.keys()) {
      const { steps } = this.current.traces[at]
      this.views[at].select(steps[0]?.id, { scroll: false })
    }
    const { steps } = this.current.traces[0]
    const first = steps.find(windowOf) ?? steps[0]
    if (first) this.select(0, first.id, { scroll: false })
  }

  /** The one after is fetched while this one is looked at. */
  #ahead() {
    const { places } = this.session
    const at = places.findIndex((place) => place.token === this.current.sheet.token)
    const next = places[at + 1]
    if (next) this.sheets.prefetch(next.token)
  }

  #drawPlaces() {
    this.places.draw(this.work, this.at, this.current?.sheet.token)
  }

  // ---- looking

  select(at, id, { scroll = true } = {}) {
    if (at !== this.side) this.lookAt(at)
    this.views[at].select(id, { scroll })
    const step = this.current.traces[at].steps.find((one) => one.id === id)
    if (this.current.spectrum && step?.kind === 'zoom' && windowOf(step)) this.spectrum.select(id, { zoomTo: true })
  }

  /** Of a pair, the trace that the arrows walk. */
  lookAt(at) {
    this.side = at
    this.heads.forEach((head, side) => head.classList.toggle('front', side === at))
    this.parts.traces.forEach((part, side) => part.classList.toggle('front', side === at))
  }

  // ---- answering

  #said(change, { draw = true } = {}) {
    this.answer.set(change)
    this.form.tell(this.answer.changed ? 'not saved yet' : this.answer.complete ? 'saved' : '')
    if (draw) this.form.draw()
    else this.form.save.disabled = !this.answer.complete
  }

  score(scale, value) {
    this.form.front = scale === 'coherence' ? 'consistency' : scale
    this.#said({ [scale]: value })
  }

  bringForward(scale) {
    this.form.front = scale
    this.form.draw()
  }

  choose(preference) {
    this.#said({ preference })
  }

  markWrong(id = this.views[0].selected) {
    if (this.pair) return this.toast('Steps are marked where a trace is scored by itself.')
    if (!id) return undefined
    this.answer.toggleWrong(id)
    this.views[0].refresh({ marks: this.#marks() })
    return this.#said({})
  }

  /** Send the answer and go to the next place that waits. What is not taken stays here, and says so. */
  async save() {
    const { answer, current } = this
    if (this.saving) return
    if (!answer.complete)
      return this.toast(
        this.pair
          ? 'Choose first: 1 left, 2 right, 3 equal, 4 both bad.'
          : 'Score both scales first, 0 to 5 or t for “cannot tell”.',
      )
    if (!answer.changed && current.sheet.mine) return this.#next()
    this.saving = true
    this.form.tell('saving …')
    const { token } = current.sheet
    const body = answer.body()
    const { text } = answer.sent
    try {
      await postJSON(`/api/blind/sheet/${token}/${this.pair ? 'prefer' : 'score'}`, body)
      answer.taken(text)
      this.sheets.stale(token)
      for (const place of this.session.places) if (place.token === token) place.answered = true
      if (this.current !== current) this.#drawPlaces()
      else await this.#next()
    } catch (error) {
      this.#notTaken(error)
    } finally {
      this.saving = false
    }
  }

  #notTaken(error) {
    this.form.tell('not saved', true)
    const kept = 'Your answer is kept in this browser.'
    if (error instanceof Unreachable)
      this.notice(`Not saved: the server cannot be reached. ${kept}`, 'Send again', () => this.save())
    else this.notice(`Not saved: ${error.message} ${kept}`)
  }

  async #next() {
    const { places } = this.session
    const at = places.findIndex((place) => place.token === this.current.sheet.token)
    const next = places.slice(at + 1).find((place) => !place.answered) ?? places.find((place) => !place.answered)
    if (next) return this.open(next.token)
    await this.open(this.current.sheet.token)
    this.notice(
      `All ${places.length} are answered. You may change any of them until the session is closed.`,
      null,
      null,
      'done',
    )
  }

  go(by) {
    const { places } = this.session
    const at = places.findIndex((place) => place.token === this.current.sheet.token)
    const to = places[at + by]
    if (to) this.open(to.token)
    else this.toast(by < 0 ? 'This is the first one.' : 'This is the last one.')
  }

  // ---- telling

  notice(text, action, act, tone = '') {
    if (text) this.notices.show(text, { label: action, onClick: act, tone })
    else this.notices.clear()
  }

  tell(error) {
    this.notice(
      error instanceof Unreachable ? 'The server does not answer. Is it still running? Try again.' : error.message,
    )
    if (!error.kind && !(error instanceof Unreachable)) console.error(error)
  }

  toast = (text) => this.notices.toast(text)
}
