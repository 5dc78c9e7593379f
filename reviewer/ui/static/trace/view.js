// The trace: a line per step, the selected one open as a card, editable in place, with marks and with hints measured
// from the data. The page gives it the steps and receives what the person does.

import { lasting } from '../common/browser_storage.js'
import { cap, fill, h, part } from '../common/dom.js'
import { number as decimal } from '../common/format.js'
import { Keys } from '../common/keys.js'
import { languageTag, t, tn, TRACE, word } from '../common/language.js'
import { closeOnChoice, menuButton, sheetOf } from '../common/popover.js'
import { MARKS } from './shown.js'
import { diffWords, isMeasurement } from './steps.js'
import { folded, marked, spanList, spansOf, staleIn, textOf } from './statements.js'
import { trialBadge, trialDots } from './trial.js'
import { drawZoom, hintList, leaveOnKey, openFields, showEdges, windowLine } from './zoom_card.js'

/** What the number on an answer is. */
const SCORE = t(
  'Natural-log odds of YES: the sum of the baseline, or of a nano model at its answer word. Above 0 is YES; ' +
    'by default a spectrum is left to a person where it is within 1 of 0.',
)

const SHOWN = 2 // marks to choose from on the card; further ones are in its menu
const BRIEF = 32 // characters of a text in its line
/** How a thought names its window, before what it says about it. */
const LEAD = /^(?:In|Within|Across|Over) (?:the|this) (?:[^:]{0,70}?:|[^,:.]{0,60},)\s+/

const UNFOLDED = 'so-unfolded' // whether long texts are shown whole

/** @typedef {import('./shown.js').TraceState} TraceState */

export class TraceView {
  /** @param {HTMLElement} root @param {import('./shown.js').TraceCallbacks} callbacks */
  constructor(root, callbacks) {
    this.root = root
    root.classList.add('trace')
    /** @type {any} */
    this.on = { onShared: callbacks.onSelect, ...callbacks }
    /** @type {Map<string | null | undefined, HTMLElement>} */
    this.cards = new Map()
    /** @type {Map<string, HTMLElement>} by kind: cards of steps that are not complete yet */
    this.growing = new Map()
    const nothing = { steps: [], marks: {}, hints: {}, editedBy: {}, originals: new Map() }
    /** @type {TraceState} */
    this.state = { ...nothing, editable: false, markable: false }
    /** @type {string | null} */
    this.selected = null
    if (callbacks.onPoint) this.#listenForSpans()
  }

  #listenForSpans() {
    for (const name of ['mouseover', 'focusin', 'mouseout', 'focusout'])
      this.root.addEventListener(name, ({ target, type }) => {
        const span = this.#spanAt(target)
        if (span) this.on.onPoint(['mouseover', 'focusin'].includes(type) ? span : null)
      })
    this.root.addEventListener('click', (event) => this.#choose(event))
    this.root.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') this.#choose(event)
    })
  }

  /** The span that an element of a text or of a list shows. @returns {Span | null} */
  #spanAt(target) {
    const shown = target instanceof Element && target.closest('.tied')
    const id = shown && shown.closest('.card')?.getAttribute('data-step')
    return (id && this.state.spans?.[id]?.list[Number(shown.getAttribute('data-span'))]) || null
  }

  /** Go to a span's wavelengths, and show what is measured there under the text. */
  #choose(event) {
    const span = this.#spanAt(event.target)
    if (!span) return
    event.preventDefault()
    event.stopPropagation()
    const card = /** @type {HTMLElement} */ (event.target.closest('.card'))
    card.querySelector('.measured')?.remove()
    if (span.note) part(card, '.body').append(h(`p.measured.${span.status}`, { role: 'status' }, span.note))
    this.on.onSpan(span)
  }

  /** Draw a trace. @param {TraceState} state */
  show(state) {
    this.state = state
    this.cards.clear()
    this.growing.clear()
    if (!state.steps.some(({ id }) => id === this.selected)) this.selected = null
    this.head = h('header.trace-head')
    this.#drawHead()
    const faults = state.faults?.join('; ')
    fill(
      this.root,
      this.head,
      faults && h('p.note.look', t('Repaired while reading: {faults}', { faults })),
      state.steps.map((step, index) => this.#card(step, index + 1)),
      state.hidden &&
        h('p.note', t('Names, thoughts, labels and the answer are hidden until you have given your verdict.')),
      state.editable &&
        !state.steps.length &&
        h('button.tool', { onClick: () => this.on.onAdd(null, 'think') }, t('+ think')),
    )
    this.root.scrollTop = 0
    if (this.selected) this.select(this.selected, { scroll: false })
  }

  /** How long the trace is, what was drafted, whether its evidence was tried. */
  #drawHead() {
    const { by, drafter, hidden, originals, steps, trial, version } = this.state
    const draft = [...originals.values()].find((step) => step.kind === 'answer')
    const count = tn('{n} step', '{n} steps', steps.length)
    const drafted = t('{count}, drafted: {verdict}', { count, verdict: draft?.verdict ?? t('none') })
    const { onHistory } = this.on
    const toHistory = { title: t('versions, decisions and votes'), onClick: onHistory }
    fill(
      /** @type {HTMLElement} */ (this.head),
      h('span', { title: by ?? drafter ?? '' }, draft && !hidden ? drafted : count, version && ` · ${version}`),
      trialBadge(trial, drafter),
      h('span.spring'),
      onHistory && h('button.link.history', toHistory, t('history'), ' ', cap(Keys.of('history'))),
    )
  }

  /** Add a step at the end, in place of its growing card. @param {Step} step */
  append(step) {
    this.state.steps = [...this.state.steps, step]
    const before = this.growing.get(step.kind)
    this.growing.delete(step.kind)
    if (before) this.cards.delete(before.dataset.step)
    const card = this.#card(step, this.state.steps.length)
    if (before) before.replaceWith(card)
    else this.root.insertBefore(card, this.growing.values().next().value ?? null)
    this.#drawHead()
  }

  /**
   * Show the steps after the last complete one, as far as they are known: text being written, a window being drawn.
   * @param {Step[]} steps at most one of each kind
   */
  grow(steps) {
    for (const [kind, card] of this.growing) {
      if (steps.some((step) => step.kind === kind)) continue
      this.cards.delete(card.dataset.step)
      this.growing.delete(kind)
      card.remove()
    }
    steps.forEach((step, index) => {
      const number = this.state.steps.length + index + 1
      const card = this.growing.get(step.kind) ?? this.#addGrowing(step, number)
      part(card, '.number').textContent = String(number)
      part(card, '.brief').textContent = this.#brief(step)
      if (step.kind === 'zoom') drawZoom(card, step, this)
      else part(card, '.text').textContent = step.kind === 'think' ? step.text : step.explanation
    })
  }

  #addGrowing(step, number) {
    const card = this.#card(step, number)
    card.classList.add('growing')
    this.#open(card, step)
    card.setAttribute('aria-busy', 'true')
    this.growing.set(step.kind, card)
    this.root.append(card)
    return card
  }

  /**
   * Show other marks, hints, spans, comments or windows in common, or another trial; cards, focus and scroll stay.
   * @param {Partial<TraceState>} change
   */
  refresh(change) {
    Object.assign(this.state, change)
    if ('trial' in change) this.#drawHead()
    const tools = ['marks', 'hints', 'spans'].some((name) => name in change)
    for (const step of this.state.steps) {
      const card = this.cards.get(step.id)
      if (!card) continue
      this.#drawLine(card, step)
      if (!card.querySelector('.body')) continue
      if (step.kind !== 'zoom') {
        if ('spans' in change) this.#refreshText(card, step)
      } else if ('trial' in change) drawZoom(card, step, this)
      else if (tools) fill(part(card, '.hints'), hintList(step, this.state))
      if (!tools) continue
      this.#drawTools(card, step)
      this.#noteInto(card, step)
    }
  }

  #refreshText(card, step) {
    if (card.querySelector('textarea')) this.#listSpans(card, step)
    else if (!card.querySelector('.text')?.contains(document.activeElement)) this.#fillText(card, step)
  }

  /** The button that shows the comments about a step; one without comments has it in its menu. @param {Step} step */
  #talk({ id }) {
    const { comments = 0, fresh = 0 } = this.state.threads?.[id] ?? {}
    const props = { title: t('comments about this step'), onClick: () => this.on.onComment(id) }
    const count = tn('{n} comment', '{n} comments', comments)
    const news = fresh > 0 && ` · ${tn('{n} new', '{n} new', fresh)}`
    return comments > 0 && h(`button.comment.has${fresh ? '.new' : ''}`, props, count, news)
  }

  /** A text with its spans and its changes since the draft. */
  #fillText(card, step) {
    const text = card.querySelector('.text')
    if (!text) return
    const original = this.state.originals.get(step.id)
    const before = original && textOf(original)
    const after = textOf(step)
    const runs = before === undefined ? [{ op: '=', text: after }] : diffWords(before, after)
    const empty = !after && this.state.editable && step.kind === 'think'
    const spans = spansOf(this.state.spans, step)
    const { first, rest, at } = folded(runs)
    const reachable = this.selected === step.id
    const open = lasting.get(UNFOLDED) === 'yes' || staleIn(spans).some(({ end }) => end > at)
    // Who wants to read one to its end wants to read all.
    const onClick = ({ currentTarget }) => lasting.set(UNFOLDED, currentTarget.parentElement.open ? 'no' : 'yes')
    const hiddenText = rest.map((run) => run.text).join('')
    const words = hiddenText.split(/\s+/).length
    const more = h('summary', { lang: languageTag, onClick }, tn('{n} more word', '{n} more words', words))
    fill(
      text,
      marked(first, spans, reachable),
      rest.length > 0 && h('details.rest', { open }, more, h('span', marked(rest, spans, reachable, at))),
      empty && h('span.muted', { lang: languageTag }, t('Empty: press Enter to write.')),
    )
  }

  /** The spans of a text being edited, under its field. */
  #listSpans(card, step) {
    const list = card.querySelector('.tied-list')
    if (list) fill(list, spanList(textOf(step), spansOf(this.state.spans, step)))
  }

  /** How many parts of the text disagree, and the button that writes them anew. @param {Step} step */
  #disagreements(step) {
    const stale = staleIn(spansOf(this.state.spans, step))
    const count = tn('{n} disagrees', '{n} disagree', stale.length)
    const can = this.state.editable && stale.some((span) => span.new !== null)
    const onClick = () => this.on.onUpdate(step.id)
    const props = { title: t('write the windows and numbers as they are now'), onClick }
    return h(
      'span.disagreements',
      stale.length > 0 && h('span.stale', { title: stale.map((span) => span.note).join('\n') }, count),
      can && h('button.update', props, t('update numbers'), ' ', cap(Keys.of('update-numbers'))),
    )
  }

  /**
   * Show steps that were changed outside the cards, e.g. by a window dragged on the spectrum: redraw those that differ.
   * @param {Step[]} steps
   */
  setSteps(steps) {
    const before = new Map(this.state.steps.map((s) => [s.id, s]))
    const sameOrder = steps.length === this.state.steps.length && steps.every((s, i) => s.id === this.state.steps[i].id)
    const scroll = this.root.scrollTop
    this.state.steps = steps
    this.#drawHead()
    if (!sameOrder) {
      this.show(this.state)
      this.root.scrollTop = scroll
      return
    }
    steps.forEach((step, index) => {
      if (before.get(step.id) === step) return
      const old = this.cards.get(step.id)
      if (old && !old.contains(document.activeElement)) old.replaceWith(this.#card(step, index + 1))
      else if (old) {
        this.#drawLine(old, step)
        if (step.kind === 'zoom') drawZoom(old, step, this)
      }
    })
    if (this.selected) this.select(this.selected, { scroll: false })
  }

  /** @param {string | null} id */
  select(id, { scroll = true } = {}) {
    const before = this.cards.get(this.selected)
    this.selected = id
    const card = this.cards.get(id)
    if (before && before !== card) this.#close(before)
    const step = this.state.steps.find((s) => s.id === id)
    if (!card || !step) return
    card.classList.add('selected')
    card.setAttribute('aria-current', 'step')
    if (!card.querySelector('.body')) this.#open(card, step)
    for (const tied of card.querySelectorAll('.text .tied')) tied.tabIndex = 0
    if (scroll) card.scrollIntoView({ block: 'nearest' })
  }

  #close(card) {
    card.classList.remove('selected')
    card.removeAttribute('aria-current')
    if (card.classList.contains('growing')) return
    // What is typed in a field counts when the field is left.
    const focused = /** @type {any} */ (document.activeElement)
    if (card.querySelector('.body')?.contains(focused)) focused.blur()
    card.querySelector('.body')?.remove()
  }

  /** Put the cursor where a step is edited; false where it cannot be. @param {string} id */
  edit(id) {
    const card = this.cards.get(id)
    const step = this.state.steps.find((s) => s.id === id)
    if (!card || !step || !this.state.editable) return false
    if (this.selected !== id) this.select(id)
    if (step.kind === 'zoom') openFields(card, step, this)
    else this.#openText(card, step)
    return true
  }

  /** While an edge is dragged, update the numbers; the picture follows at the end. */
  previewWindow(id, lo, hi) {
    const card = this.cards.get(id)
    if (card?.querySelector('.body')) showEdges(card, lo, hi)
  }

  #card(step, number) {
    const { id, kind } = step
    const choose = () => this.selected !== id && this.on.onSelect(id)
    const props = { tabIndex: -1, 'aria-label': `${word(kind)} ${number}`, onMousedown: choose, onFocusin: choose }
    const parts = [h('span.number', String(number)), h('span.brief', { lang: TRACE }), h('span.about')]
    const header = h('header', { onDblclick: () => this.edit(id) }, parts)
    const card = h(`article.card.${kind}`, { 'data-step': id, ...props }, header)
    this.cards.set(step.id, card)
    this.#drawLine(card, step)
    if (this.selected === step.id) {
      card.classList.add('selected')
      this.#open(card, step)
    }
    return card
  }

  /** What a step is, in its line. @param {Step} step */
  #brief(step) {
    if (step.kind === 'zoom') return windowLine(step)
    const text = textOf(step).replace(/\s+/g, ' ').trim().replace(LEAD, '')
    const cut = text.length > BRIEF ? `${text.slice(0, BRIEF).replace(/[\s:;,(]+\S*$/, '')}…` : text
    if (step.kind === 'answer') return [step.verdict ?? t('no verdict'), cut].filter(Boolean).join(': ')
    return cut || t('empty')
  }

  /** The line of a step: what it is, who edited it, and a dot for each thing that is known about it. */
  #drawLine(card, step) {
    const { editedBy, hints, marks, shared, spans } = this.state
    const person = editedBy[step.id]
    const stale = staleIn(spansOf(spans, step))
    const mark = marks[step.id]?.mark
    const same = shared?.[step.id]
    const known = step.kind === 'zoom' ? (hints[step.id] ?? []) : []
    const count = (/** @type {string} */ level) => known.filter((hint) => hint.level === level).length
    const [agree, toCheck] = [count('ok'), count('look') + stale.length]
    part(card, '.brief').textContent = this.#brief(step)
    card.classList.toggle('disagrees', stale.length > 0)
    fill(
      part(card, '.about'),
      person && h('span.edited', { title: t('edited by {person}', { person }) }, person),
      same && h('button.shared', { title: same.title, onClick: () => this.on.onShared(same.id) }, same.name),
      this.on.onComment && this.#talk(step),
      mark && h(`span.marked${isGood(mark) ? '.good' : ''}`, { title: word(mark) }, isGood(mark) ? '✓' : '✗'),
      trialDots(step, this.state),
      dots('ok', agree, tn('{n} agrees with the data', '{n} agree with the data', agree)),
      dots('look', toCheck, tn('{n} to check', '{n} to check', toCheck)),
    )
  }

  /** Open a step as a card. */
  #open(card, step) {
    const body = h('div.body', h('div.step-tools'))
    card.append(body)
    if (step.kind === 'zoom') drawZoom(card, step, this)
    else this.#textInto(body, step)
    this.#drawTools(card, step)
    this.#noteInto(card, step)
  }

  /** Under an open step: what disagrees, the marks, and the menu. */
  #drawTools(card, step) {
    const tools = card.querySelector('.step-tools')
    if (!tools?.contains(document.activeElement))
      return void fill(tools, this.#disagreements(step), h('span.marks', this.#marks(step)), this.#menu(step))
    for (const button of tools.querySelectorAll('.mark')) this.#press(button, this.state.marks[step.id]?.mark)
  }

  #press(button, mark) {
    button.classList.toggle('set', button.dataset.mark === mark)
    button.setAttribute('aria-pressed', String(button.dataset.mark === mark))
  }

  #noteInto(card, step) {
    card.querySelector('.mark-note')?.remove()
    const note = this.state.marks[step.id]?.note
    if (note) card.querySelector('.step-tools')?.before(h('p.mark-note', note))
  }

  /** The marks to choose from. @param {Step} step */
  #offered(step) {
    return this.state.markable
      ? (this.state.offered ?? MARKS).filter((offered) => !offered.zoomOnly || step.kind === 'zoom')
      : []
  }

  #marks(step) {
    const set = this.state.marks[step.id]?.mark
    if (!this.state.markable) return set ? [h('span.mark.set', word(set))] : []
    return this.#offered(step)
      .filter((offered, at) => at < SHOWN || offered.mark === set)
      .map((offered) => {
        const onClick = ({ currentTarget }) =>
          this.on.onMark(step.id, currentTarget.classList.contains('set') ? 'cleared' : offered.mark)
        const props = { 'data-mark': offered.mark, title: `${word(offered.mark)} (${offered.key})`, onClick }
        const button = h(`button.mark${offered.good ? '.good' : ''}`, props, offered.short, ' ', cap(offered.key))
        this.#press(button, set)
        return button
      })
  }

  /** What else can be done with a step. */
  #menu(step) {
    const { editable, markable } = this.state
    const { on } = this
    const entry = (text, key, onClick) => menuButton(text, key, { onClick })
    const entries = () => [
      this.#offered(step)
        .slice(SHOWN)
        .map(({ mark, key }) => entry(word(mark), key, () => on.onMark(step.id, mark))),
      markable && on.onNote && entry(t('note on this step'), Keys.of('mark-note'), () => on.onNote(step.id)),
      on.onComment && entry(t('comment on this step'), '', () => on.onComment(step.id)),
      editable && [
        !isMeasurement(step) && entry(t('edit'), 'Enter', () => this.edit(step.id)),
        step.kind !== 'answer' && [
          entry(t('add a zoom after this step'), Keys.of('add-zoom'), () => on.onAdd(step.id, 'zoom')),
          entry(t('add a think after this step'), Keys.of('add-think'), () => on.onAdd(step.id, 'think')),
          entry(t('move up'), Keys.of('move-up'), () => on.onMove(step.id, -1)),
          entry(t('move down'), Keys.of('move-down'), () => on.onMove(step.id, 1)),
          entry(t('remove this step'), Keys.of('remove-step'), () => on.onRemove(step.id)),
        ],
      ],
    ]
    if (!editable && !(on.onComment && !this.state.hidden) && this.#offered(step).length <= SHOWN) return null
    const button = h('button.tool.step-more', t('more ▾'))
    const sheet = sheetOf(button, 'div.so-menu', t('Step {number}', { number: this.#number(step) }), entries)
    closeOnChoice(sheet)
    return [button, sheet]
  }

  #number = (/** @type {Step} */ step) => this.state.steps.findIndex(({ id }) => id === step.id) + 1

  /** The text of a thought or an answer, with its verdict. */
  #textInto(body, step) {
    const title = this.state.editable && step.kind === 'think' ? t('double-click or press Enter to edit') : ''
    const text = h('div.text', { lang: TRACE, title, onDblclick: () => this.edit(step.id) })
    fill(body, step.kind === 'answer' && this.#verdict(step), text, body.querySelector('.step-tools'))
    this.#fillText(body, step)
  }

  #openText(card, step) {
    const body = part(card, '.body')
    const open = body.querySelector('textarea')
    if (open) return open.focus()
    const answer = step.kind === 'answer'
    const area = h('textarea', {
      ...{ lang: TRACE, spellcheck: true, value: textOf(step) },
      'aria-label': answer ? t('Explanation') : t('Thought'),
      onInput: () => {
        fitHeight(area)
        if (answer) this.on.onAnswer(step.id, { explanation: area.value })
        else this.on.onText(step.id, area.value)
      },
      onKeydown: (event) => leaveOnKey(event, card, event.ctrlKey || event.metaKey),
      onBlur: () => this.#closeText(card, step.id),
    })
    body.querySelector('.text')?.replaceWith(area, h('ul.tied-list', { 'aria-label': t('In this text') }))
    this.#listSpans(card, step)
    fitHeight(area)
    area.focus()
    area.setSelectionRange(area.value.length, area.value.length)
  }

  #closeText(card, id) {
    const step = this.state.steps.find((s) => s.id === id)
    const body = card.querySelector('.body')
    if (!step || !card.isConnected || !body) return
    this.#textInto(body, step)
    this.#drawLine(card, step)
    this.#noteInto(card, step)
  }

  #verdict({ id, score, verdict }) {
    const none = t('no verdict')
    const original = this.state.originals.get(id)
    const options = ['', 'YES', 'NO'].map((value) =>
      h('option', { value, selected: value === (verdict ?? '') }, value || none),
    )
    const onChange = ({ target }) => this.on.onAnswer(id, { verdict: target.value || null })
    const hasScore = typeof score === 'number'
    const odds = decimal(score, 1, { sign: true })
    return [
      original && original.verdict !== verdict && [h('del', original.verdict ?? none), ' '],
      this.state.editable
        ? h('select.verdict', { 'aria-label': t('Verdict'), onChange }, options)
        : h(`strong.verdict.${(verdict ?? 'none').toLowerCase()}`, verdict ?? none),
      ' ',
      hasScore && h('span.chip.score', { title: SCORE }, t('log odds {odds}', { odds })),
    ]
  }
}

const isGood = (/** @type {string} */ mark) => MARKS.some((known) => known.mark === mark && known.good)

/** Dots of a colour, at most three. @param {string} level @param {number} count @param {string} label */
const dots = (level, count, label) => {
  const each = Array.from({ length: Math.min(3, count) }, () => h(`i.dot.${level}`))
  return count > 0 && h('span.dots', { role: 'img', 'aria-label': label }, each)
}

/** Make a textarea as tall as its text. @param {HTMLTextAreaElement} area */
function fitHeight(area) {
  area.style.height = 'auto'
  area.style.height = `${area.scrollHeight + 2}px`
}
