// The trace: step cards in order, editable in place, with marks and with hints measured from the data. The page gives
// it the steps and receives what the person does.

import { cap, fill, h, part } from '../common/dom.js'
import { Keys, isComposing } from '../common/keys.js'
import { languageTag, t, tn, TRACE, word } from '../common/language.js'
import { MARKS } from './shown.js'
import { diffWords } from './steps.js'
import { marked, spanList, spansOf, staleIn, textOf } from './statements.js'
import { trialLine } from './trial.js'
import { drawZoom, hintList, showEdges } from './zoom_card.js'

/** What the number on an answer is. */
const SCORE = t(
  'Natural-log odds of YES: the sum of the baseline, or of a nano model at its answer word. Above 0 is YES; ' +
    'by default a spectrum is left to a person where it is within 1 of 0.',
)

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
    fill(
      this.root,
      trialLine(state.trial, state.drafter),
      state.overviewURL && this.#overview(state.overviewURL),
      state.faults?.length
        ? h('p.note.look', {}, t('Repaired while reading: {faults}', { faults: state.faults.join('; ') }))
        : null,
      state.steps.map((step, index) => this.#card(step, index + 1)),
      state.hidden
        ? h('p.note', {}, t('Names, thoughts, labels and the answer are hidden until you have given your verdict.'))
        : null,
      state.editable && !state.steps.length ? this.#addRow(null) : null,
    )
    this.root.scrollTop = 0
    if (this.selected && this.cards.has(this.selected)) this.select(this.selected, { scroll: false })
    else this.selected = null
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
      if (step.kind === 'zoom') drawZoom(card, step, this)
      else part(card, '.text').textContent = step.kind === 'think' ? step.text : step.explanation
    })
  }

  #addGrowing(step, number) {
    const card = this.#card(step, number)
    card.classList.add('growing')
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
    for (const step of this.state.steps) {
      const card = this.cards.get(step.id)
      if (!card) continue
      fill(part(card, '.marks'), this.#marks(step))
      this.#noteInto(card, step)
      if (step.kind === 'zoom') fill(part(card, '.hints'), hintList(step, this.state))
    }
  }

  #refreshShared(shared) {
    this.state.shared = shared
    for (const step of this.state.steps) {
      const card = this.cards.get(step.id)
      if (card) fill(part(card, '.same'), this.#shared(step))
    }
  }

  #refreshSpans(spans) {
    this.state.spans = spans
    for (const step of this.state.steps) {
      const card = this.cards.get(step.id)
      if (!card) continue
      if (step.kind === 'zoom') fill(part(card, '.hints'), hintList(step, this.state))
      else if (card.querySelector('textarea')) this.#listSpans(card, step)
      else if (!card.querySelector('.text')?.contains(document.activeElement)) this.#fillText(card, step)
      this.#disagreements(card, step)
    }
  }

  /** @param {Record<string, StepThreads>} threads */
  #refreshThreads(threads) {
    this.state.threads = threads
    for (const step of this.state.steps) {
      const place = this.cards.get(step.id)?.querySelector('.talk')
      if (place) fill(place, this.#talk(step))
    }
  }

  /** The button that shows the comments about a step, with their number. On other cards than the selected one it is
   * shown only if there are any. */
  #talk(step) {
    const { comments = 0, open = 0, fresh = 0 } = this.state.threads?.[step.id] ?? {}
    return h(
      `button.comment${comments ? '.has' : ''}${fresh ? '.new' : ''}`,
      {
        type: 'button',
        title: open ? t('comments about this step') : t('comment on this step'),
        onClick: () => this.on.onComment(step.id),
      },
      comments ? tn('{n} comment', '{n} comments', comments) : t('comment'),
      fresh > 0 && ` · ${tn('{n} new', '{n} new', fresh)}`,
    )
  }

  /** @param {Trial | OtherTrial | null} trial */
  #refreshTrial(trial) {
    this.state.trial = trial
    this.root.querySelector('.trial-line')?.remove()
    const line = trialLine(trial, this.state.drafter)
    if (line) this.root.prepend(line)
    for (const step of this.state.steps) {
      const card = this.cards.get(step.id)
      if (card && step.kind === 'zoom') drawZoom(card, step, this)
    }
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
    fill(
      text,
      marked(runs, spansOf(this.state.spans, step), this.selected === step.id),
      empty && h('span.muted', { lang: languageTag }, t('Empty: press Enter to write.')),
    )
  }

  /** The spans of a text being edited, under its field. */
  #listSpans(card, step) {
    const list = card.querySelector('.tied-list')
    if (list) fill(list, spanList(textOf(step), spansOf(this.state.spans, step)))
  }

  /** In the header: how many parts of the text disagree, and the button that writes them anew. */
  #disagreements(card, step) {
    const stale = staleIn(spansOf(this.state.spans, step))
    card.classList.toggle('disagrees', stale.length > 0)
    const count = tn('{n} disagrees', '{n} disagree', stale.length)
    const can = this.state.editable && stale.some((span) => span.new !== null)
    fill(
      part(card, '.disagreements'),
      stale.length > 0 && h('span.stale', { title: stale.map((span) => span.note).join('\n') }, count),
      can &&
        h(
          'button.update',
          {
            type: 'button',
            title: t('write the windows and numbers as they are now'),
            onClick: () => this.on.onUpdate(step.id),
          },
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
    if (!sameOrder) {
      this.show(this.state)
      this.root.scrollTop = scroll
      return
    }
    steps.forEach((step, index) => {
      if (before.get(step.id) === step) return
      const old = this.cards.get(step.id)
      if (old && !old.contains(document.activeElement)) old.replaceWith(this.#card(step, index + 1))
      else if (old && step.kind === 'zoom') drawZoom(old, step, this)
    })
    if (this.selected) this.select(this.selected, { scroll: false })
  }

  /** @param {string | null} id */
  select(id, { scroll = true } = {}) {
    this.cards.get(this.selected ?? undefined)?.classList.remove('selected')
    this.selected = id
    const card = this.cards.get(id ?? undefined)
    if (!card) return
    const step = this.state.steps.find((s) => s.id === id)
    for (const other of this.root.querySelectorAll('.card .marks')) {
      const owner = other.closest('.card')?.dataset.step
      fill(other, this.#marks(this.state.steps.find((s) => s.id === owner)))
    }
    card.classList.add('selected')
    for (const tied of this.root.querySelectorAll('.text .tied')) tied.tabIndex = card.contains(tied) ? 0 : -1
    fill(part(card, '.marks'), this.#marks(step))
    if (scroll) card.scrollIntoView({ block: 'nearest' })
  }

  /** Put the cursor where a step is edited; false where it cannot be. @param {string} id */
  edit(id) {
    const card = this.cards.get(id)
    if (!card || !this.state.editable) return false
    const step = this.state.steps.find((s) => s.id === id)
    if (step?.kind !== 'zoom') this.#openText(card, step)
    else /** @type {HTMLInputElement | null} */ (card.querySelector('input'))?.select()
    return true
  }

  /** While an edge is dragged, update the numbers; the picture follows at the end. */
  previewWindow(id, lo, hi) {
    const card = this.cards.get(id)
    if (card) showEdges(card, lo, hi)
  }

  #overview(url) {
    return h(
      'details.overview',
      {},
      h('summary', {}, t('First picture: the full spectrum as the agent saw it')),
      h('img', { src: url, alt: t('Full spectrum'), loading: 'lazy', onClick: () => this.on.onPicture(url) }),
    )
  }

  #card(step, number) {
    const edited = this.state.editedBy[step.id]
    const kind = { think: 'think', zoom: 'zoom', answer: 'answer' }[step.kind]
    const card = h(
      `article.card.${kind}`,
      {
        'data-step': step.id,
        tabIndex: -1,
        onMousedown: () => this.selected !== step.id && this.on.onSelect(step.id),
        onFocusin: () => this.selected !== step.id && this.on.onSelect(step.id),
      },
      h(
        'header',
        {},
        h('span.number', {}, String(number)),
        h('span.kind', {}, word(kind)),
        edited && h('span.edited', { title: editedBy(edited) }, editedBy(edited)),
        h('span.same', {}, this.#shared(step)),
        h('span.disagreements', {}),
        this.on.onComment && h('span.talk', {}, this.#talk(step)),
        h('span.marks', {}),
      ),
      h('div.body', {}),
    )
    this.cards.set(step.id, card)
    const body = part(card, '.body')
    if (step.kind === 'think') this.#textInto(body, step)
    if (step.kind === 'zoom') drawZoom(card, step, this)
    if (step.kind === 'answer') this.#answerInto(body, step)
    this.#disagreements(card, step)
    fill(part(card, '.marks'), this.#marks(step))
    this.#noteInto(card, step)
    if (this.state.editable) card.append(this.#tools(step))
    if (this.selected === step.id) card.classList.add('selected')
    return card
  }

  #shared(step) {
    const same = this.state.shared?.[step.id]
    return (
      same &&
      h('button.shared', { type: 'button', title: same.title, onClick: () => this.on.onShared(same.id) }, same.name)
    )
  }

  #noteInto(card, step) {
    card.querySelector('.mark-note')?.remove()
    const note = this.state.marks[step.id]?.note
    if (note) part(card, '.body').append(h('p.mark-note', {}, note))
  }

  #marks(step) {
    if (!step) return [] // not complete yet
    const set = this.state.marks[step.id]?.mark
    if (!this.state.markable) return set ? [h('span.mark.set', {}, word(set))] : []
    const chosen = this.selected === step.id
    return (this.state.offered ?? MARKS)
      .filter((m) => (chosen && (!m.zoomOnly || step.kind === 'zoom')) || m.mark === set)
      .map((m) =>
        h(
          `button.mark${m.good ? '.good' : '.bad'}${m.mark === set ? '.set' : ''}`,
          {
            type: 'button',
            title: `${word(m.mark)} (${m.key})`,
            'aria-pressed': String(m.mark === set),
            onClick: () => this.on.onMark(step.id, m.mark === set ? 'cleared' : m.mark),
          },
          m.short,
          chosen && cap(m.key),
        ),
      )
  }

  #textInto(body, step) {
    fill(
      body,
      h('p.text', {
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
    const body = part(card, '.body')
    if (step.kind === 'think') this.#textInto(body, step)
    else this.#answerInto(body, step)
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
      : h(`strong.verdict.${(step.verdict ?? 'none').toLowerCase()}`, {}, step.verdict ?? t('no verdict'))
    const changed =
      original && original.verdict !== step.verdict ? [h('del', {}, original.verdict ?? t('no verdict')), ' '] : []
    fill(
      body,
      changed,
      verdict,
      ' ',
      typeof step.score === 'number' &&
        h('span.chip.score', { title: SCORE }, t('log odds {odds}', { odds: signed(step.score) })),
      h('p.text', { lang: TRACE, onDblclick: () => this.edit(step.id) }),
    )
    this.#fillText(body, step)
  }

  #tools(step) {
    const button = (text, title, act, key) =>
      h('button.tool', { type: 'button', title: `${title} (${key})`, onClick: act }, text)
    return h(
      'div.tools',
      {},
      step.kind !== 'zoom' && button(t('edit'), t('edit the text'), () => this.edit(step.id), 'Enter'),
      step.kind !== 'answer' && [
        button(t('+ zoom'), t('add a zoom after this step'), () => this.on.onAdd(step.id, 'zoom'), 'a'),
        button(t('+ think'), t('add a think after this step'), () => this.on.onAdd(step.id, 'think'), 'A'),
        button('↑', t('move up'), () => this.on.onMove(step.id, -1), 'Alt ↑'),
        button('↓', t('move down'), () => this.on.onMove(step.id, 1), 'Alt ↓'),
        button(t('remove'), t('remove this step'), () => this.on.onRemove(step.id), 'Del'),
      ],
    )
  }

  #addRow(after) {
    return h(
      'div.tools',
      {},
      h('button.tool', { type: 'button', onClick: () => this.on.onAdd(after, 'think') }, t('+ think')),
    )
  }
}

/** @param {string} person initials */
const editedBy = (person) => t('edited by {person}', { person })

/** Make a textarea as tall as its text. @param {HTMLTextAreaElement} area */
function fitHeight(area) {
  area.style.height = 'auto'
  area.style.height = `${area.scrollHeight + 2}px`
}
