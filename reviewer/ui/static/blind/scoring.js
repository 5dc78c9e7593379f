// The scoring page: the list of sheets, one or two traces, the spectrum and the form, and how they work together.

import { cap, fill, h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { t, tn, word, sentences } from '../common/language.js'
import { Notices } from '../common/notices.js'
import { outbox } from '../status/outbox.js'
import * as panels from '../common/panels.js'
import { onTheme } from '../common/theme.js'
import { keepForNextVisit, lastVisit } from '../spectrum/controls.js'
import { SpectrumView, drawPicture } from '../spectrum/view.js'
import { nearestZoom, pictureAt, windowOf, windowsOf, windowsOfSide } from '../trace/steps.js'
import { TraceView } from '../trace/view.js'
import { scoringActions } from './actions.js'
import { BlindForm, Places } from './form.js'
import { Answer, Sheets, canOpen, openPlaces } from './sheets.js'

const WRONG = [{ mark: 'wrong', short: t('this claim is wrong'), key: 'w' }]
const SIDES = ['left', 'right']
const LANE = 'sheet ' // of the outbox, with the token of the sheet

/** A page of sheets to score: it holds which session, sheet and answer are shown. */
export class ScoringPage {
  /** @type {Answer} the answer to the sheet shown */
  answer
  #opening = 0 // the last sheet opened: only that one is drawn
  #saving = '' // the sheet whose answer is being saved

  /**
   * @param {HTMLElement} root
   * @param {{me: Person, keymap: Keymap, onSessions: (() => void) | null}} options
   */
  constructor(root, { me, keymap, onSessions }) {
    this.root = root
    this.me = me
    this.onSessions = onSessions
    /** @type {SessionWork[]} the sessions that are open to this person */
    this.work = []
    this.at = 0 // the session shown
    this.side = 0 // of a pair, the trace that the arrow keys move through
    /** @type {any} a `LoadedSheet` once there is one: the sheet shown with its traces and spectrum */
    this.current = null
    this.sheets = new Sheets()
    this.act = scoringActions(this)
    const active = () => root.getClientRects().length > 0 && !panels.panelIsOpen()
    this.keys = new Keys(keymap, this.act, active, (text) => this.notices.toast(text))
    const notices = (this.notices = new Notices())
    const parts = (this.parts = {
      places: h('aside.queue'),
      traces: SIDES.map((side) =>
        h('section', { 'aria-label': side === 'left' ? t('Trace on the left') : t('Trace on the right') }),
      ),
      header: h('header.item'),
      picture: h('figure.so-agent', { hidden: true }),
      spectrum: h('section.spectrum', { 'aria-label': t('Spectrum') }),
      form: h('div.blind-form', { role: 'form', 'aria-label': t('Answer') }),
    })
    this.heads = SIDES.map((side, at) =>
      h(`button.side.so-${side}`, { hidden: true, onClick: () => this.selectSide(at) }, word(side)),
    )
    this.root.classList.add('so-desk', 'blind')
    this.root.tabIndex = -1
    fill(
      this.root,
      parts.places,
      h('div.plots', parts.header, parts.picture, parts.spectrum),
      h('div.steps', notices.line, this.heads[0], parts.traces[0]),
      h('div.steps.second', this.heads[1], parts.traces[1]),
      parts.form,
      notices.toasts,
    )
    this.places = new Places(parts.places, this)
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
      picture: () => this.#picture(),
      state: lastVisit(),
    })
    this.form = new BlindForm(parts.form, this)
    onTheme((theme) => this.spectrum.setTheme(theme))
  }

  get session() {
    return this.work[this.at]
  }

  /** Whether two traces are compared. */
  get isPair() {
    return this.current?.sheet.kind === 'pair'
  }

  /**
   * Show the sessions as the server has them. The sheet shown stays, if it is still to be scored.
   * @param {SessionWork[]} work
   */
  async show(work) {
    const session = this.session?.session
    this.work = work
    const same = work.findIndex((part) => part.session === session)
    const waiting = work.findIndex((part) => part.places.some((place) => !place.answered))
    this.at = Math.max(0, same >= 0 ? same : waiting)
    if (!work.length) return this.#nothing()
    this.root.classList.remove('nothing')
    if (this.current && this.#place >= 0) this.places.draw()
    else await this.#resume()
    this.#takeFocus()
  }

  /** @param {number} at */
  openSession(at) {
    this.at = at
    return this.#resume()
  }

  /** Open the first sheet without an answer, or else the last one. */
  #resume() {
    const { places } = this.session
    return this.open((places.find((place) => !place.answered) ?? places[places.length - 1]).token)
  }

  #nothing() {
    this.current = null
    this.root.classList.add('nothing')
    const words = t('When a coordinator opens a blind session in which you score, it appears here.')
    fill(this.parts.traces[0], h('div.empty', h('h3', t('Nothing to score')), h('p', words)))
  }

  async open(token) {
    const ticket = ++this.#opening
    try {
      const loaded = await this.sheets.load(token)
      if (ticket === this.#opening) this.#draw(loaded)
    } catch (error) {
      if (ticket === this.#opening) this.notices.error(error)
    }
  }

  /** @param {import('./sheets.js').LoadedSheet} loaded */
  #draw(loaded) {
    const { sheet, traces, spectrum, atlas } = (this.current = loaded)
    this.answer = new Answer(this.me.initials, sheet)
    if (this.answer.restored) this.notices.show(t('Your unsaved answer has been restored. It has not been saved yet.'))
    else this.notices.clear()
    this.root.classList.toggle('pair', this.isPair)
    for (const head of this.heads) head.hidden = !this.isPair
    this.selectSide(0)
    for (const [at, trace] of traces.entries()) {
      this.views[at].selected = null
      this.views[at].show(this.#state(trace))
    }
    const button = (action, text) =>
      h('button.guide', { onClick: () => this.act(action) }, cap(this.keys.of(action)), ` ${text}`)
    fill(
      this.parts.header,
      h('strong.name', { title: t('the question to the agent') }, `${sheet.question.title}?`),
      sheet.training && h('span.practice', t('Practice: this one does not count')),
      h('span.spring'),
      h('span.muted', t('{done} of {all}', { done: sheet.place, all: sheet.of })),
      button('guide', t('guide')),
      button('keys', t('rubric')),
    )
    this.parts.spectrum.classList.toggle('absent', spectrum === null)
    this.parts.picture.hidden = spectrum !== null
    if (spectrum)
      this.spectrum.show({
        id: sheet.token,
        spectrum,
        redshift: spectrum.redshift,
        windows: this.#windows(),
        lines: atlas.lines,
        bands: atlas.bands,
        range: atlas.range,
        editable: false,
      })
    this.#first()
    this.form.show(this.session.rubric, this.answer)
    this.form.showStatus(this.answer.changed ? t('not saved yet') : sheet.mine ? t('saved') : '')
    this.places.draw()
    // The server allows this for one place ahead.
    const next = this.session.places[this.#place + 1]
    if (next) this.sheets.prefetch(next.token)
    this.#takeFocus()
  }

  /** Move the focus from the button that led here, which Enter would press again, to the page, where Enter saves. */
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
      pictureURL: trace.pictureURL,
      overviewURL: trace.overviewURL,
      editable: false,
      markable: !this.isPair,
      offered: WRONG,
    }
  }

  #marks() {
    return Object.fromEntries((this.answer.values.wrong_steps ?? []).map((step) => [step, { mark: 'wrong' }]))
  }

  #windows() {
    return this.current.traces.flatMap(({ side, steps }) =>
      side ? windowsOfSide(windowsOf(steps), side) : windowsOf(steps),
    )
  }

  #first() {
    const { traces } = this.current
    for (const [at, trace] of traces.entries()) this.views[at].select(trace.steps[0]?.id, { scroll: false })
    const { steps } = traces[0]
    const first = steps.find(windowOf) ?? steps[0]
    if (first) this.select(0, first.id, { scroll: false })
  }

  /** The place of the sheet shown in the session; -1: it has none. */
  get #place() {
    return this.session.places.findIndex((place) => place.token === this.current.sheet.token)
  }

  // ---- selecting

  select(at, id, { scroll = true } = {}) {
    if (at !== this.side) this.selectSide(at)
    this.views[at].select(id, { scroll })
    const zoom = nearestZoom(this.current.traces[at].steps, id)
    if (!this.current.spectrum) drawPicture(this.parts.picture, this.#picture())
    else if (zoom) this.spectrum.select(zoom.id, { zoomTo: true, chosen: id })
  }

  /** What the agent saw at the selected step. */
  #picture() {
    const trace = this.current?.traces[this.side]
    return trace && pictureAt(trace.steps, this.views[this.side].selected, trace.pictureURL, trace.overviewURL)
  }

  /** Select the next or previous step. @param {number} by */
  selectStep(by) {
    const { steps } = this.current.traces[this.side]
    const at = steps.findIndex((step) => step.id === this.views[this.side].selected)
    const to = steps[Math.max(0, Math.min(steps.length - 1, at + by))]
    if (to) this.select(this.side, to.id)
  }

  /** Select the trace of a pair that the arrow keys move through. @param {number} at */
  selectSide(at) {
    this.side = at
    for (const parts of [this.heads, this.parts.traces])
      parts.forEach((part, side) => part.classList.toggle('front', side === at))
  }

  // ---- answering

  /** @param {string} comment */
  comment(comment) {
    this.#change({ comment }, { draw: false })
  }

  /** @param {Record<string, any>} change @param {{draw?: boolean}} options */
  #change(change, { draw = true } = {}) {
    this.answer.set(change)
    this.form.showStatus(this.answer.changed ? t('not saved yet') : this.answer.complete ? t('saved') : '')
    if (draw) this.form.draw()
    else this.form.save.disabled = !this.answer.complete
  }

  score(scale, value) {
    this.form.scale = scale === 'coherence' ? 'consistency' : scale
    this.#change({ [scale]: value })
  }

  /** @param {string} scale */
  selectScale(scale) {
    this.form.scale = scale
    this.form.draw()
  }

  choose(preference) {
    this.#change({ preference })
  }

  markWrong(id = this.views[0].selected) {
    if (this.isPair) return this.notices.toast(t('Steps can be marked only when a single trace is scored.'))
    if (!id) return undefined
    this.answer.toggleWrong(id)
    this.views[0].refresh({ marks: this.#marks() })
    return this.#change({})
  }

  /** Send the answer and open the next sheet without one. An answer that is not accepted stays here. */
  async save() {
    const { answer, current } = this
    if (this.#saving === current.sheet.token) return
    if (!answer.complete)
      return this.notices.toast(
        this.isPair
          ? t('Choose first: 1 left, 2 right, 3 equal, 4 both bad.')
          : t('Score both scales first, 0 to 5 or t for “cannot tell”.'),
      )
    if (!answer.changed && current.sheet.mine) return this.#next()
    const { token, place, of, kind } = current.sheet
    this.#saving = token
    this.form.showStatus(t('saving …'))
    const body = answer.body()
    const { text } = answer.sent
    const name = t('blind session {session}, {place} of {of}', { session: this.session.session, place, of })
    const parts = [{ path: `/api/v1/blind/sheet/${token}/${kind === 'pair' ? 'prefer' : 'score'}`, body }]
    const entry = { key: body.key, kind: /** @type {const} */ ('score'), name, lane: LANE + token, parts }
    const inFront = () => this.current === current
    try {
      // The answer is sent as soon as the server answers; the next sheet can be opened only then.
      const onWait = () => inFront() && this.form.showStatus(t('not sent yet'), true)
      await outbox.send({ ...entry, item: null, version: null }, { inFront, onWait })
      answer.saved(text)
      this.#answered(token)
      if (!inFront()) this.places.draw()
      else if (answer.changed) this.#changedMeanwhile()
      else await this.#next()
    } catch (error) {
      if (!inFront()) return undefined
      this.form.showStatus(t('not saved'), true)
      const kept = t('Your answer is kept in this browser.')
      this.notices.show(sentences(t('Not saved: {reason}', { reason: error.message }), kept))
    } finally {
      if (this.#saving === token) this.#saving = ''
    }
  }

  /** The server has the answer to a sheet. @param {string} token */
  #answered(token) {
    this.sheets.drop(token)
    const places = this.work.flatMap((session) => session.places)
    for (const place of places) if (place.token === token) place.answered = true
  }

  /** An answer that an earlier page had left was sent. @param {import('../status/outbox.js').Entry} entry */
  sentLate({ key, lane }) {
    const token = lane.slice(LANE.length)
    this.#answered(token)
    if (!this.current) return
    if (this.current.sheet.token === token && this.answer.sent?.key === key) {
      this.answer.saved(this.answer.sent.text)
      if (this.answer.changed) this.#changedMeanwhile()
      else {
        this.current.sheet.mine = this.answer.onServer
        this.notices.clear()
        this.form.showStatus(t('saved'))
      }
    }
    this.places.draw()
  }

  /** The answer was changed while it was sent: it stays in front, for another decision to save. */
  #changedMeanwhile() {
    this.current.sheet.mine = this.answer.onServer
    this.places.draw()
    this.form.showStatus(t('not saved yet'))
    this.notices.show(t('You changed the answer while it was being saved. Save it again to keep the change.'))
  }

  async #next() {
    const { places } = this.session
    const at = this.#place
    const next = places.slice(at + 1).find((place) => !place.answered) ?? places.find((place) => !place.answered)
    if (next) return this.open(next.token)
    await this.open(this.current.sheet.token)
    const change = tn(
      'You can change the last answer until the session is closed.',
      'You can change the last {n} answers until the session is closed.',
      openPlaces(places).changeable,
    )
    this.notices.show(sentences(t('All {all} are answered.', { all: places.length }), change), { tone: 'done' })
  }

  go(by) {
    const { places } = this.session
    const to = places[this.#place + by]
    if (!to) this.notices.toast(by < 0 ? t('This is the first one.') : t('This is the last one.'))
    else if (canOpen(places, to)) this.open(to.token)
    else this.notices.toast(by < 0 ? finalWords(places) : t('Answer this one first: places are answered in order.'))
  }
}

/** @param {SheetPlace[]} places */
const finalWords = (places) =>
  tn(
    'Earlier answers are final: only the last one can be changed.',
    'Earlier answers are final: only the last {n} can be changed.',
    openPlaces(places).changeable,
  )
