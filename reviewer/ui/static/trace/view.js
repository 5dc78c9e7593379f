// The trace: a line per step, the selected one open as a card, editable in place, with marks and with hints measured
// from the data. The page gives it the steps and receives what the person does.

import { lasting } from '../common/browser_storage.js'
import { cap, fill, h, part } from '../common/dom.js'
import { Keys, isComposing } from '../common/keys.js'
import { languageTag, t, tn, TRACE, word } from '../common/language.js'
import { closeOnChoice, menuButton, sheetOf } from '../common/popover.js'
import { MARKS } from './shown.js'
import { diffWords } from './steps.js'
import { folded, marked, spanList, spansOf, staleIn, textOf } from './statements.js'
import { trialBadge, trialDots } from './trial.js'
import { drawZoom, hintList, openFields, showEdges, windowLine } from './zoom_card.js'

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

/** A number with its sign and one decimal. */
const signed = (value) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`

/** @typedef {import('./shown.js').TraceState} TraceState */

export class TraceView {
  /** @param {HTMLElement} root @param {import('./shown.js').TraceCallbacks} callbacks */
  constructor(root, callbacks) {
    this.root = root
    this.root.classList.add('trace')
    /** @type {any} */
    this.on = callbacks
    /** @type {Map<string | undefined, HTMLElement>} */
    this.cards = new Map()
    /** @type {Map<string, HTMLElement>} by kind: cards of steps that are not complete yet */
    this.growing = new Map()
    /** @type {TraceState} */
    this.state = {
      steps: [],
      marks: {},
      hints: {},
      editedBy: {},
      originals: new Map(),
      editable: false,
      markable: false,
    }
    /** @type {string | null} */
    this.selected = null
    if (callbacks.onPoint) this.#listenForSpans()
  }

  #listenForSpans() {
    const point = (event, span) => {
      if (this.#spanAt(event.target)) this.on.onPoint(span ?? null)
    }
    for (const name of ['mouseover', 'focusin'])
      this.root.addEventListener(name, (event) => point(event, this.#spanAt(event.target)))
    for (const name of ['mouseout', 'focusout']) this.root.addEventListener(name, (event) => point(event, null))
    this.root.addEventListener('click', (event) => this.#choose(event))
    this.root.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') this.#choose(event)
    })
  }

  /** The span that an element of a text or of a list shows. @returns {Span | null} */
  #spanAt(target) {
    const shown = target instanceof Element && /** @type {HTMLElement | null} */ (target.closest('.tied'))
    if (!shown) return null
    const id = /** @type {HTMLElement | null} */ (shown.closest('.card'))?.dataset.step
    return (id && this.state.spans?.[id]?.list[Number(shown.dataset.span)]) || null
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
    fill(
      this.root,
      this.head,
      state.faults?.length
        ? h('p.note.look', t('Repaired while reading: {faults}', { faults: state.faults.join('; ') }))
        : null,
      state.steps.map((step, index) => this.#card(step, index + 1)),
      state.hidden
        ? h('p.note', t('Names, thoughts, labels and the answer are hidden until you have given your verdict.'))
        : null,
      state.editable && !state.steps.length
        ? h('button.tool', { onClick: () => this.on.onAdd(null, 'think') }, t('+ think'))
        : null,
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
    fill(
      /** @type {HTMLElement} */ (this.head),
      h(
        'span',
        { title: by ?? drafter ?? '' },
        [draft && !hidden ? drafted : count, version].filter(Boolean).join(' · '),
      ),
      trialBadge(trial, drafter),
      h('span.spring'),
      this.on.onHistory &&
        h(
          'button.link.history',
          { title: t('versions, decisions and votes'), onClick: () => this.on.onHistory() },
          t('history'),
          ' ',
          cap(Keys.of('history')),
        ),
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
   * Show other marks, hints, spans or windows in common, or another trial; cards, focus and scroll stay.
   * @param {{marks?: Record<string, Mark>, hints?: Record<string, Hint[] | undefined>,
   *   spans?: Record<string, import('./statements.js').SpansOfText>, trial?: Trial | null,
   *   threads?: Record<string, StepThreads>, shared?: TraceState['shared']}} change
   */
  refresh({ marks, hints, spans, trial, threads, shared }) {
    if (shared) this.#refreshShared(shared)
    if (threads) this.#refreshThreads(threads)
    if (spans) this.#refreshSpans(spans)
    if (trial !== undefined) this.#refreshTrial(trial)
    if (!marks && !hints) return
    if (marks) this.state.marks = marks
    if (hints) this.state.hints = hints
    this.#eachCard((card, step) => {
      this.#drawLine(card, step)
      if (!card.querySelector('.body')) return
      this.#drawTools(card, step)
      this.#noteInto(card, step)
      if (step.kind === 'zoom') fill(part(card, '.hints'), hintList(step, this.state))
    })
  }

  /** @param {(card: HTMLElement, step: Step) => void} act */
  #eachCard(act) {
    for (const step of this.state.steps) {
      const card = this.cards.get(step.id)
      if (card) act(card, step)
    }
  }

  #refreshShared(shared) {
    this.state.shared = shared
    this.#eachCard((card, step) => this.#drawLine(card, step))
  }

  #refreshSpans(spans) {
    this.state.spans = spans
    this.#eachCard((card, step) => {
      this.#drawLine(card, step)
      if (!card.querySelector('.body')) return
      if (step.kind === 'zoom') fill(part(card, '.hints'), hintList(step, this.state))
      else if (card.querySelector('textarea')) this.#listSpans(card, step)
      else if (!card.querySelector('.text')?.contains(document.activeElement)) this.#fillText(card, step)
      this.#drawTools(card, step)
    })
  }

  /** @param {Record<string, StepThreads>} threads */
  #refreshThreads(threads) {
    this.state.threads = threads
    this.#eachCard((card, step) => this.#drawLine(card, step))
  }

  /** The button that shows the comments about a step; one without comments has it in its menu. @param {Step} step */
  #talk(step) {
    const { comments = 0, fresh = 0 } = this.state.threads?.[step.id] ?? {}
    if (!comments) return null
    return h(
      `button.comment.has${fresh ? '.new' : ''}`,
      { title: t('comments about this step'), onClick: () => this.on.onComment(step.id) },
      tn('{n} comment', '{n} comments', comments),
      fresh > 0 && ` · ${tn('{n} new', '{n} new', fresh)}`,
    )
  }

  /** @param {Trial | OtherTrial | null} trial */
  #refreshTrial(trial) {
    this.state.trial = trial
    this.#drawHead()
    this.#eachCard((card, step) => {
      this.#drawLine(card, step)
      if (step.kind === 'zoom' && card.querySelector('.body')) drawZoom(card, step, this)
    })
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
    const words = rest
      .map((run) => run.text)
      .join('')
      .split(/\s+/).length
    fill(
      text,
      marked(first, spans, reachable),
      rest.length > 0 &&
        h(
          'details.rest',
          { open },
          h('summary', { lang: languageTag, onClick }, tn('{n} more word', '{n} more words', words)),
          h('span', marked(rest, spans, reachable, at)),
        ),
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
    return h(
      'span.disagreements',
      stale.length > 0 && h('span.stale', { title: stale.map((span) => span.note).join('\n') }, count),
      can &&
        h(
          'button.update',
          { title: t('write the windows and numbers as they are now'), onClick: () => this.on.onUpdate(step.id) },
          t('update numbers'),
          ' ',
          cap(Keys.of('update-numbers')),
        ),
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
    const before = this.cards.get(this.selected ?? undefined)
    this.selected = id
    const card = this.cards.get(id ?? undefined)
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
    const { activeElement } = document
    if (activeElement instanceof HTMLElement && card.querySelector('.body')?.contains(activeElement))
      activeElement.blur()
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
    const kind = { think: 'think', zoom: 'zoom', answer: 'answer' }[step.kind]
    const card = h(
      `article.card.${kind}`,
      {
        'data-step': step.id,
        tabIndex: -1,
        'aria-label': `${word(kind)} ${number}`,
        onMousedown: () => this.selected !== step.id && this.on.onSelect(step.id),
        onFocusin: () => this.selected !== step.id && this.on.onSelect(step.id),
      },
      h(
        'header',
        { onDblclick: () => this.edit(step.id) },
        h('span.number', String(number)),
        h('span.brief', { lang: TRACE }),
        h('span.about'),
      ),
    )
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
    const { editedBy: by, hints, marks, shared, spans } = this.state
    const edited = by[step.id]
    const mark = marks[step.id]?.mark
    const same = shared?.[step.id]
    const levels = [
      ...(step.kind === 'zoom' ? (hints[step.id] ?? []).map(({ level }) => level) : []),
      ...staleIn(spansOf(spans, step)).map(() => 'look'),
    ]
    part(card, '.brief').textContent = this.#brief(step)
    card.classList.toggle('disagrees', staleIn(spansOf(spans, step)).length > 0)
    fill(
      part(card, '.about'),
      edited && h('span.edited', { title: editedBy(edited) }, edited),
      same && h('button.shared', { title: same.title, onClick: () => this.on.onShared(same.id) }, same.name),
      this.on.onComment && this.#talk(step),
      mark && h(`span.marked${isGood(mark) ? '.good' : ''}`, { title: word(mark) }, isGood(mark) ? '✓' : '✗'),
      trialDots(step, this.state),
      ['ok', 'look'].map((level) => dots(level, levels.filter((other) => other === level).length)),
    )
  }

  /** Open a step as a card. */
  #open(card, step) {
    const body = h('div.body')
    card.append(body)
    if (step.kind === 'think') this.#textInto(body, step)
    if (step.kind === 'zoom') drawZoom(card, step, this)
    if (step.kind === 'answer') this.#answerInto(body, step)
    card.querySelector('.body')?.append(h('div.step-tools'))
    this.#drawTools(card, step)
    this.#noteInto(card, step)
  }

  /** Under an open step: what disagrees, the marks, and the menu. */
  #drawTools(card, step) {
    const tools = card.querySelector('.step-tools')
    if (!tools || tools.contains(document.activeElement)) {
      for (const button of tools?.querySelectorAll('.mark') ?? []) this.#press(button, this.state.marks[step.id]?.mark)
      return
    }
    fill(tools, this.#disagreements(step), h('span.marks', this.#marks(step)), this.#menu(step))
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
        entry(t('edit'), 'Enter', () => this.edit(step.id)),
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

  #textInto(body, step) {
    fill(
      body,
      h('div.text', {
        lang: TRACE,
        title: this.state.editable ? t('double-click or press Enter to edit') : '',
        onDblclick: () => this.edit(step.id),
      }),
    )
    this.#fillText(body, step)
  }

  #openText(card, step) {
    const body = part(card, '.body')
    const open = body.querySelector('textarea')
    if (open) return open.focus()
    const answer = step.kind === 'answer'
    const area = h('textarea', {
      lang: TRACE,
      value: answer ? step.explanation : step.text,
      'aria-label': answer ? t('Explanation') : t('Thought'),
      spellcheck: true,
      onInput: (event) => {
        fitHeight(event.target)
        if (answer) this.on.onAnswer(step.id, { explanation: event.target.value })
        else this.on.onText(step.id, event.target.value)
      },
      onKeydown: (event) => {
        if (isComposing(event)) return
        if (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey))) {
          event.preventDefault()
          event.stopPropagation()
          event.target.blur()
          card.focus()
        }
      },
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
    if (!step || !card.isConnected) return
    const body = card.querySelector('.body')
    if (!body) return
    const tools = body.querySelector('.step-tools')
    if (step.kind === 'think') this.#textInto(body, step)
    else this.#answerInto(body, step)
    body.append(tools ?? '')
    this.#drawLine(card, step)
    this.#noteInto(card, step)
  }

  #answerInto(body, step) {
    const original = this.state.originals.get(step.id)
    const verdict = this.state.editable
      ? h(
          'select.verdict',
          {
            'aria-label': t('Verdict'),
            value: step.verdict ?? '',
            onChange: (event) => this.on.onAnswer(step.id, { verdict: event.target.value || null }),
          },
          ['', 'YES', 'NO'].map((v) =>
            h('option', { value: v, selected: v === (step.verdict ?? '') }, v || t('no verdict')),
          ),
        )
      : h(`strong.verdict.${(step.verdict ?? 'none').toLowerCase()}`, step.verdict ?? t('no verdict'))
    const changed =
      original && original.verdict !== step.verdict ? [h('del', original.verdict ?? t('no verdict')), ' '] : []
    fill(
      body,
      changed,
      verdict,
      ' ',
      typeof step.score === 'number' &&
        h('span.chip.score', { title: SCORE }, t('log odds {odds}', { odds: signed(step.score) })),
      h('div.text', { lang: TRACE, onDblclick: () => this.edit(step.id) }),
    )
    this.#fillText(body, step)
  }
}

const isGood = (/** @type {string} */ mark) => MARKS.some((known) => known.mark === mark && known.good)

/** Dots of a colour, at most three. @param {string} level @param {number} count */
const dots = (level, count) =>
  count > 0 &&
  h(
    'span.dots',
    {
      role: 'img',
      'aria-label':
        level === 'ok'
          ? tn('{n} agrees with the data', '{n} agree with the data', count)
          : tn('{n} to check', '{n} to check', count),
    },
    Array.from({ length: Math.min(3, count) }, () => h(`i.dot.${level}`)),
  )

/** @param {string} person initials */
const editedBy = (person) => t('edited by {person}', { person })

/** Make a textarea as tall as its text. @param {HTMLTextAreaElement} area */
function fitHeight(area) {
  area.style.height = 'auto'
  area.style.height = `${area.scrollHeight + 2}px`
}
