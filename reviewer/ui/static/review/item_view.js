// The item shown: header, trace with marks and hints, and spectrum with the windows of the trace. It draws what the
// state holds, redraws when the steps change, and reports what the person does with the cards.

import { address } from '../common/address.js'
import { fill, h } from '../common/dom.js'
import { downloads, observedRange } from '../spectrum/downloads.js'
import { dateAndTime, windowText } from '../common/format.js'
import { drawHeader } from '../spectrum/item_header.js'
import { Keys } from '../common/keys.js'
import { t, tn, word } from '../common/language.js'
import { guideOf, openPicture } from '../common/panels.js'
import { menuButton } from '../common/popover.js'
import { Aids } from '../evidence/aids.js'
import { epochsButton } from '../evidence/epochs.js'
import { Evidence } from '../evidence/drawer.js'
import { keepForNextVisit, lastVisit } from '../spectrum/controls.js'
import { extent, shownFactor } from '../spectrum/frames.js'
import { SpectrumView, drawPicture } from '../spectrum/view.js'
import { Comparison } from '../trace/comparison.js'
import { nearestZoom, pictureAt, windowOf, windowsOf } from '../trace/steps.js'
import { TraceView } from '../trace/view.js'
import { Inspecting, inspectionButton, keepTried, ownRedshift } from './inspection.js'
import { beforeImport } from './dialogs.js'
import { choicesOf, comparedItem, pictureURL } from './items.js'

const LEAST_SHOWN = 120 // Å in the window plot around a line that a text names

/** What the cards report: `onText` is the action "card-text". */
const OF_CARDS = ['Text', 'Answer', 'Window', 'Label', 'Mark', 'Add', 'Move', 'Remove', 'Update', 'Comment']

export class ItemView {
  /** The spectrum that is drawn: its hash, and whether its medium is assumed. */
  #drawn = ''

  /**
   * @param {{state: import('./state.js').ReviewState, statements: import('./statements.js').Statements,
   *   notices: import('../common/notices.js').Notices, act: import('./state.js').Act}} parts
   */
  constructor({ state, statements, notices, act }) {
    this.state = state
    this.statements = statements
    this.notices = notices
    this.act = act
    /** @type {Record<string, StepThreads>} comments by step */
    this.threads = {}
    this.header = h('header.item')
    this.versionLine = h('div.version-line', { role: 'status', hidden: true })
    this.tracePane = h('section', { 'aria-label': t('Trace') })
    const evidenceButton = Evidence.button()
    /** In place of the plots of an item without its spectrum. */
    this.pictureOnly = h('figure.so-agent', { hidden: true })
    this.spectrumPane = h('section.spectrum', { 'aria-label': t('Spectrum') })
    this.trace = new TraceView(this.tracePane, {
      ...Object.fromEntries(
        OF_CARDS.map((name) => [`on${name}`, (...about) => act(`card-${name.toLowerCase()}`, ...about)]),
      ),
      onNote: () => act('mark-note'),
      onHistory: () => act('history'),
      onSelect: (id) => this.select(id, { scroll: false }),
      onPicture: openPicture,
      onMistyped: (message) => notices.toast(message),
      onPoint: (span) => state.current?.spectrum && this.spectrum.highlight(span?.range ?? null),
      onSpan: (span) => this.#goTo(span),
      onShared: (id) => this.select(id),
    })
    this.comparison = new Comparison({
      pane: this.tracePane,
      onSelect: (id, how) => this.select(id, how),
      onChoose: (id) => act('compare', id),
      onClose: () => act('close-comparison'),
      onChange: () => this.#comparisonChanged(),
    })
    this.spectrum = new SpectrumView(this.spectrumPane, {
      onWindow: (lo, hi, { final }) => act('drag-window', lo, hi, final),
      onSelect: (id) => this.select(id, { zoomTo: false }),
      onState: (/** @type {any} */ spectrum) => {
        keepForNextVisit(spectrum)
        const { item, me } = this.state
        if (item) keepTried(me.initials, item, spectrum.z, this.spectrum.item?.redshift ?? 0)
      },
      onOverlay: (kind) => this.aids.overlay(kind),
      measure: (lo, hi) => this.aids.measure(lo, hi),
      picture: () => this.#picture,
      buttons: [evidenceButton],
      menu: () => [
        menuButton(t('my inspection'), Keys.of('inspect'), { onClick: () => act('inspect') }),
        menuButton(t('comments'), Keys.of('comments'), { onClick: () => act('comments') }),
        (state.me.rules.solo || state.me.roles.includes('coordinator')) &&
          menuButton(t('assign …'), '', { onClick: () => act('assign') }),
        menuButton(t('copy the link to what is in front'), '', { onClick: () => act('copy-link') }),
        menuButton(t('TOPCAT, Aladin, SPLAT, DS9 …'), '', { onClick: () => act('samp') }),
        ...this.#downloads(),
      ],
      copy: (text) => this.aids.copy(text),
      state: lastVisit(),
    })
    this.aids = new Aids({ name: 'review', view: () => this.spectrum, notices })
    this.evidence = new Evidence({
      ...{ aids: this.aids, name: 'review', button: evidenceButton },
      panes: ['lines', 'loci', 'templates', 'similar', 'sky'],
      own: {
        guide: { title: t('Guide'), draw: () => this.#guide() },
        inspection: { title: t('Inspect'), draw: () => this.inspecting.draw() },
      },
    })
    const onSaved = () => {
      this.drawHeader()
      this.evidence.update()
    }
    this.inspecting = new Inspecting({ state, notices, plot: () => this.spectrum, onSaved })
    state.on('item', ({ sameItem }) => this.#show(sameItem))
    state.on('version', () => this.#show(true))
    state.on('steps', (change) => this.#stepsChanged(change))
    state.on('opening', () => this.drawHeader())
    statements.addEventListener('change', () => this.refresh({ spans: statements.spans }))
  }

  get selected() {
    return this.trace.selected
  }

  /** The steps that are shown: those of an earlier version, or of the draft. */
  get steps() {
    return this.state.reading?.trajectory.steps ?? this.state.steps
  }

  /** Draw the current item. @param {boolean} sameItem whether the view of the spectrum and the selection stay */
  #show(sameItem) {
    const { current } = this.state
    if (!current) return this.#showNothing()
    if (!sameItem) {
      this.threads = {}
      this.comparison.forget()
    }
    this.drawHeader()
    this.#drawVersionLine()
    this.#showTrace()
    return this.#showSpectrum(sameItem)
  }

  #drawVersionLine() {
    const { reading } = this.state
    this.versionLine.hidden = !reading
    const shown = reading && t('Version {version} of {of}, to read only.', { version: reading.number, of: reading.of })
    const button = h('button', { onClick: () => this.act('current-version') }, t('Show the current version'))
    fill(this.versionLine, h('span', shown), button)
  }

  drawHeader() {
    const { current } = this.state
    if (!current) return
    const { item, opening, spectrum, others } = current
    drawHeader(this.header, {
      ...{ item, spectrum },
      buttons: [
        epochsButton(opening.epochs, this.aids),
        this.#othersButton(others),
        spectrum && inspectionButton(item, () => this.act('inspect')),
      ],
      onGuide: () => this.act('guide'),
      onMedium: (medium) => this.act('medium', medium),
      toast: (message) => this.notices.toast(message),
    })
  }

  /** The list of other traces of the spectrum. @param {OtherTrace[]} others */
  #othersButton(others) {
    if (!others.length) return null
    const label = tn('{n} other trace', '{n} other traces', others.length)
    const title = tn('{n} other trace of this spectrum', '{n} other traces of this spectrum', others.length)
    return this.comparison.button({ label, title, choices: () => choicesOf(others) })
  }

  #showNothing() {
    const mine = this.state.filter.mine === 'true'
    this.spectrumPane.classList.add('absent')
    this.versionLine.hidden = true
    this.comparison.forget()
    fill(this.header, h('strong.name', mine ? t('Nothing waits for you') : t('No item fits this filter')))
    const nothingLeft = t(
      'Every item under this filter is done, waits for another person, or is in a blind session of ' +
        'yours. Press {key} to widen the filter, or add more in the Data tab.',
      { key: Keys.of('filter') },
    )
    fill(this.tracePane, h('p.empty', nothingLeft))
    this.aids.show(null)
    this.evidence.update()
  }

  #showTrace() {
    const { current, editable, reading } = this.state
    if (!current) return
    const { item, hints } = current
    const { marks, originals, row, standing } = item
    const { steps } = this
    const trajectory = reading?.trajectory ?? item.trajectory
    const measured = row.spectrum && !item.hidden && !reading
    this.trace.show({
      steps,
      originals: new Map((originals.length ? originals : trajectory.steps).map((step) => [step.id, step])),
      editedBy: reading ? {} : this.#editedBy(),
      marks: reading ? {} : marks.mine,
      hints: measured ? hints : Object.fromEntries(steps.map((step) => [step.id, []])),
      pictureURL: (step) =>
        this.state.pictures.get(step.picture) ?? pictureURL(trajectory, step.picture, step.arguments),
      overviewURL: pictureURL(trajectory, trajectory.overview, {}),
      spans: reading ? {} : this.statements.spans,
      shared: this.comparison.draw(comparedItem(current, steps), current.spectrum),
      editable,
      markable: !item.hidden && !reading && standing.round !== null,
      threads: reading ? {} : this.threads,
      hidden: item.hidden,
      faults: trajectory.faults,
      meta: current.spectrum?.meta,
      trial: reading ? null : item.trial,
      drafter: row.drafter.name,
      ...(reading || item.hidden ? {} : aboutVersion(item)),
      tried: trajectory.steps,
      trialURL: ({ number }, what) =>
        address(`/api/v1/item/${item.id}/trial/${/** @type {Trial} */ (item.trial).key}/${number}/${what}`),
    })
    if (reading) return
    if (marks.others.length) this.tracePane.prepend(this.#marksByOthers(marks.others))
    if (item.request) this.tracePane.prepend(requestBanner(item.request))
    else if (!item.hidden) this.tracePane.prepend(...lastComment(item))
    if (item.draft_cannot_tell) this.tracePane.prepend(this.#cannotTellBanner(item, steps))
  }

  /**
   * The drafter's answer is a default: what a person does so that it counts.
   * @param {Item} item @param {Step[]} steps
   */
  #cannotTellBanner({ draft_cannot_tell: reason, answer_confirmed: confirmed, marks, standing }, steps) {
    const answer = steps.find((step) => step.kind === 'answer')
    const open = answer && standing.round !== null && !confirmed && marks.mine[answer.id]?.mark !== 'supported'
    const consequence = confirmed
      ? t('A person has changed or confirmed the answer since.')
      : t('Its answer is a default. It becomes training data only if a person changes the answer or confirms it.')
    const onClick = () => this.act('confirm-answer', answer?.id)
    const summary = h('summary', h('strong', t('The drafter cannot tell')))
    const confirm = open && t('Confirm {verdict}: I can tell from the data', { verdict: answer.verdict })
    const content = [h('p', `${reason}.`), h('p', consequence), confirm && h('button', { onClick }, confirm)]
    return h(`div.note.cannot-tell${confirmed ? '' : '.open'}`, { role: 'note' }, h('details', summary, content))
  }

  /** @param {Item['marks']['others']} marks */
  #marksByOthers(marks) {
    const line = ({ person, step, mark, note }) =>
      t('{person} · step {number}: {mark}', { person, number: this.state.numberOf(step), mark: word(mark) }) +
      (note ? ` “${note}”` : '')
    const summary = h('summary', t('Marks by others: {n}', { n: marks.length }))
    return h('details.note', summary, h('ul', ...marks.map((mark) => h('li', line(mark)))))
  }

  #showSpectrum(sameItem) {
    const { current, editable, me } = this.state
    const { steps } = this
    if (!current) return undefined
    const { item, spectrum, atlas } = current
    // A person may have stated the medium: then it is another spectrum of the same item.
    const drawn = `${item.row.spectrum} ${spectrum?.meta.medium_assumed}`
    const sameSpectrum = sameItem && drawn === this.#drawn
    this.#drawn = drawn
    const { originals, trajectory } = item
    this.spectrumPane.classList.toggle('absent', spectrum === null)
    this.pictureOnly.hidden = true
    if (!sameSpectrum) {
      const { spectrum: sha256, task } = item.row
      /** @type {Record<string, string>} */
      const query = this.state.verdictFirst ? { verdict_first: 'true' } : {}
      this.aids.show(spectrum && sha256 ? { sha256, task, spectrum, item: item.id, hidden: item.hidden, query } : null)
      this.evidence.update()
    }
    const selectFirst = () => {
      const first = steps.find((step) => step.kind === 'zoom' && windowOf(step)) ?? steps[0]
      if (first) this.select(first.id, { scroll: false })
    }
    if (spectrum === null) return selectFirst()
    if (sameSpectrum) return this.#showWindows()
    const before = windowsOf(originals)
    const moved = originals.length > 0 && JSON.stringify(before) !== JSON.stringify(windowsOf(trajectory.steps))
    this.spectrum.show({
      id: item.id,
      spectrum,
      redshift: trajectory.redshift ?? spectrum.redshift,
      z: ownRedshift(me.initials, item),
      windows: this.#windows(),
      lines: atlas.lines,
      bands: atlas.bands,
      range: atlas.range,
      second: moved ? before : [],
      offers: Aids.offers(spectrum),
      editable,
    })
    return selectFirst()
  }

  /** Who edited each step: saved edits, and this person's unsaved ones. */
  #editedBy() {
    const { draft, item, me, steps } = this.state
    const before = new Map((draft?.original ?? []).map((step) => [step.id, JSON.stringify(step)]))
    const mine = steps.filter((step) => before.get(step.id) !== JSON.stringify(step))
    return { ...item?.edited_by, ...Object.fromEntries(mine.map((step) => [step.id, me.initials])) }
  }

  /**
   * Draw the steps as they are now. If the selected one is gone, select the one in its place.
   * @param {{before: Step[], inCard: boolean}} change
   */
  #stepsChanged({ before, inCard }) {
    const { steps } = this.state
    const { selected, state: shown } = this.trace
    shown.editedBy = this.#editedBy()
    if (inCard) shown.steps = steps
    if (inCard || this.state.reading) return
    this.trace.setSteps(steps)
    // A step that is brought back is seen.
    const back = steps.length > before.length && steps.find(({ id }) => !before.some((step) => step.id === id))
    if (back) this.select(back.id)
    if (selected && !steps.some((step) => step.id === selected)) {
      const instead = steps[before.findIndex((step) => step.id === selected)] ?? steps.at(-1)
      if (instead) this.select(instead.id)
    }
    if (this.comparison.shown) this.#comparisonChanged()
    else this.#showWindows()
  }

  /** Draw the cards and windows as the state has them, e.g. after a refused window. */
  resetSteps() {
    this.trace.setSteps([...this.state.steps])
    this.#showWindows()
  }

  #showWindows() {
    if (!this.state.current?.spectrum) return
    const { selected } = this.trace
    this.spectrum.update({ windows: this.#windows(), selected, editable: this.state.editable })
  }

  /** The windows of the trace, and of a second one. @param {Step[]} steps of the first */
  #windows(steps = this.steps) {
    return this.comparison.withSecond(windowsOf(steps))
  }

  /** A second trace has appeared, or is gone. */
  #comparisonChanged() {
    const { current, reading } = this.state
    if (!current) return
    this.drawHeader()
    const { scrollTop } = this.tracePane
    const { selected } = this.trace
    this.#showTrace()
    this.tracePane.scrollTop = scrollTop
    this.#showWindows()
    if (selected && !reading) this.select(selected, { scroll: false })
  }

  /** Start drawing windows that are being requested. @param {Step[]} steps with the new windows */
  prepare(steps) {
    if (this.state.current?.spectrum) this.spectrum.prepareWindows(this.#windows(steps))
  }

  /** Show something else about the steps of the current version. @param {Record<string, any>} change */
  refresh(change) {
    if (!this.state.reading) this.trace.refresh(change)
  }

  /** @param {Record<string, StepThreads>} threads comments by step */
  showThreads(threads) {
    this.threads = threads
    this.refresh({ threads })
  }

  /** Show the wavelengths of a part of a text in the window plot. @param {Span} span */
  #goTo({ range }) {
    if (!this.state.current?.spectrum || !range) return
    const margin = Math.max(0, LEAST_SHOWN - (range[1] - range[0])) / 2
    this.spectrum.goTo([range[0] - margin, range[1] + margin])
    this.spectrum.highlight(range)
  }

  /** Select a step on its card and on the spectrum. @param {string} id of this trace, or of the one next to it */
  select(id, { zoomTo = true, scroll = true } = {}) {
    const { current, editable } = this.state
    const second = this.comparison.select(id, { scroll })
    if (second === null) this.trace.select(id, { scroll })
    if (current?.spectrum === null) drawPicture(this.pictureOnly, this.#picture)
    if (!current?.spectrum) return
    const shown = second || nearestZoom(this.steps, id)
    // A window of the second trace is not dragged.
    if (this.spectrum.item) this.spectrum.item.editable = editable && second === null && shown?.id === id
    if (shown && windowOf(shown)) this.spectrum.select(shown.id, { zoomTo, chosen: id })
    else this.spectrum.command('agent', this.spectrum.state.agent)
  }

  #guide() {
    const { item, me } = this.state
    return item && guideOf(me.tasks[item.task.key], item.trajectory.prompt)
  }

  /** Figure and table of the item shown, as links of a menu. */
  #downloads() {
    const { current, verdictFirst } = this.state
    if (!current?.spectrum) return []
    const query = verdictFirst ? { verdict_first: true } : {}
    return downloads(address(`/api/v1/item/${current.item.id}`), observedRange(this.spectrum), query).map(
      ({ text, url }) => h('a.entry', { href: url, download: '' }, text),
    )
  }

  /** What the agent saw at the selected step. */
  get #picture() {
    const { pictureURL: of, overviewURL } = this.trace.state
    return of ? pictureAt(this.steps, this.trace.selected, of, overviewURL) : null
  }

  /**
   * Show a range in the window plot.
   * @param {[number, number]} range Å, observed frame @returns {string} why it cannot be shown; "": it is
   */
  showRange(range) {
    const { current } = this.state
    if (!current?.spectrum) return t('There is no spectrum to show the range of the link in.')
    const factor = this.#toObserved(current)
    const [first, last] = extent(current.spectrum.wavelength)
    const [lo, hi] = [Math.max(first, range[0] / factor), Math.min(last, range[1] / factor)]
    if (!(lo < hi))
      return t('The range of the link, {range}, is outside of this spectrum.', { range: windowText(...range) })
    this.spectrum.showInWindow([lo, hi])
    return ''
  }

  /** The range of the window plot if a person chose it, Å in the observed frame; null: that of the selected step. */
  chosenRange() {
    const { current } = this.state
    const range = current?.spectrum ? this.spectrum.chosenRange() : null
    if (!current || !range) return null
    const factor = this.#toObserved(current)
    return /** @type {[number, number]} */ ([range[0] * factor, range[1] * factor])
  }

  /** The factor from the data's wavelengths to the observed frame. @param {LoadedItem} loaded */
  #toObserved({ item, spectrum }) {
    const z = item.trajectory.redshift ?? spectrum?.redshift ?? 0
    return spectrum ? shownFactor(spectrum, z, 'observed') : 1
  }
}

/** Who wrote the version shown. @param {Item} item */
function aboutVersion({ row, trajectory, version: { author, number, reason } }) {
  const draft = [t('draft by {name}', { name: row.drafter.name }), beforeImport(trajectory.authors)]
  const own = [t('v{number} by {author}', { number, author: author ?? '?' }), reason && `“${reason}”`]
  const by = (number > 1 ? own : draft).filter(Boolean).join(', ')
  return { by, version: number > 1 ? `v${number}` : '' }
}

/** What was written with the last decision. @param {Item} item */
function lastComment({ standing }) {
  const { person, comment } = standing.decisions.at(-1) ?? {}
  return comment ? [h('p.note', `${person}: “${comment}”`)] : []
}

/** What is to be changed in a returned item. @param {{person: string, comment: string, at: string}} request */
function requestBanner({ person, comment, at }) {
  const title = h('strong', t('{person} returned this on {when}:', { person, when: dateAndTime(at) }))
  return h('p.note.request', { role: 'note' }, title, ' ', h('span', comment))
}
