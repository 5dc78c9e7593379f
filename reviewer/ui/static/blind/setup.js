// The form for a new blind session, with a preview of the sample and of what is left out.

import { fill, h, part } from '../common/dom.js'
import { newKey, postJSON } from '../common/http.js'
import { t, tn, word } from '../common/language.js'
import { check, folded, group, line, number, radios, select } from '../common/fields.js'
import { planOf } from './plan.js'
import { previewWords } from './preview.js'

export class SetupForm {
  /** @param {{onDrawn: (session: Object) => void}} callbacks */
  constructor({ onDrawn }) {
    this.onDrawn = onDrawn
    this.setup = null
    this.sent = null
    this.edits = 0
    this.preview = h('div.preview', { role: 'status' })
    const onSubmit = (event) => {
      event.preventDefault()
      this.#draw()
    }
    this.root = h('form.blind-setup', { onSubmit, onInput: () => this.#changed() })
    // The browser cannot point at a wrong field in a part that is folded.
    const unfold = ({ target }) => target.closest('details')?.setAttribute('open', '')
    this.root.addEventListener('invalid', unfold, { capture: true })
  }

  /** Fill the form with the available choices. A form that a person has begun to fill in keeps their choices. */
  fill(setup) {
    const first = this.setup === null
    const same = JSON.stringify(setup) === JSON.stringify(this.setup)
    this.setup = setup
    if (!first && (same || this.edits)) return this.#showCounts()
    fill(this.root, this.#fields(setup))
    this.#showCounts()
  }

  /** Begin with an empty form for the items of a list. @param {number} list */
  useList(list) {
    fill(this.root, this.#fields(this.setup))
    fill(this.preview)
    const field = /** @type {HTMLSelectElement} */ (part(this.root, '[name=listed]'))
    field.value = String(list)
    field.closest('details')?.setAttribute('open', '')
    this.#changed()
    part(this.root, '[name=name]').focus()
  }

  #fields({ people, tasks, filter }) {
    const sources = [...this.#counted('source').keys()].map((key) => check('sources', key, key))
    const classes = [...this.#counted('task')].map(([key, n]) =>
      check('tasks', key, tasks[key], tn('{n} item', '{n} items', n)),
    )
    const scorers = people.map(({ initials, name }) => check('scorers', initials, `${initials} · ${name}`))
    const perClass = t('each with the trace of every source; also per survey or label if they are chosen below')
    const perSpectrum = t('all traces of a spectrum go to the same scorers')
    const repeats = t('items that are shown to each scorer again later, to measure self-consistency')
    return [
      h('h2', t('New session')),
      line('name', t('Name'), { required: true, maxLength: 200, placeholder: t('not shown to scorers') }),
      group(t('Sources'), t('none chosen: all drafters'), sources),
      choices(t('Text of each item'), 'version', {
        drafted: t('as drafted: exactly as its drafter wrote it'),
        approved: t('as approved: revised and unchanged texts as different sources'),
        both: t('both, as two sources: the draft and its approved revision'),
      }),
      group(t('Classes'), t('none chosen: all classes'), classes),
      choices(t('Questions'), 'mode', {
        scores: t('scores, 0 to 5'),
        pairs: t('pairs: which is better'),
        both: t('both'),
      }),
      h(
        'div.numbers',
        number('number', t('Spectra per class'), { placeholder: t('all'), min: 1, title: perClass }),
        number('each', t('Scorers per spectrum'), { value: 2, min: 1, title: perSpectrum }),
        number('repeats', t('Hidden repeats per scorer'), { value: 0, min: 0, title: repeats }),
        number('seed', t('Seed'), { value: 0, min: 0, title: t('the same seed gives the same sample again') }),
      ),
      group(t('Scorers'), t('people who worked on an item never score it'), scorers),
      filterFields(filter),
      designFields(),
      analysisFields(),
      goldFields(),
      choices(t('Texts that may reveal their author'), 'giveaways', {
        flag: t('include and list them'),
        'leave out': t('exclude'),
      }),
      this.preview,
      h(
        'div.verbs',
        h('button', { onClick: () => this.#preview() }, t('Preview')),
        h('button.primary', { type: 'submit' }, t('Create session')),
      ),
    ]
  }

  /** Count items by source or task. @param {'source' | 'task'} what @param {'items' | 'drafted' | 'approved'} which */
  #counted(what, which = 'items') {
    const counts = new Map()
    for (const stratum of this.setup.strata)
      counts.set(stratum[what], (counts.get(stratum[what]) ?? 0) + stratum[which])
    return counts
  }

  /** @returns {HTMLInputElement[]} */
  #inputs = (selector) => [...this.root.querySelectorAll(selector)]

  #showCounts() {
    this.#showTexts()
    this.#showBarred()
  }

  /** Show how many items of each source have the chosen version, and offer the sources of that version to compare. */
  #showTexts() {
    const version = /** @type {HTMLInputElement} */ (part(this.root, '[name=version]:checked')).value
    const counts = this.#counted('source', version === 'drafted' ? 'drafted' : 'approved')
    for (const input of this.#inputs('[name=sources]')) {
      const n = counts.get(input.value) ?? 0
      const words = version === 'drafted' ? tn('{n} item', '{n} items', n) : t('{n} approved', { n })
      noteOf(input).textContent = words
    }
    for (const name of ['first', 'second']) {
      const field = /** @type {HTMLSelectElement} */ (part(this.root, `[name=${name}]`))
      const { value } = field
      const sources = this.setup.sources[version]
      fill(field, field.options[0], ...sources.map((source) => h('option', { value: source }, source)))
      field.value = sources.includes(value) ? value : ''
    }
  }

  /** Show next to each scorer how many of the chosen items they may not score. */
  #showBarred() {
    const chosen = (name) => this.#inputs(`[name=${name}]:checked`).map(({ value }) => value)
    const [sources, tasks] = [chosen('sources'), chosen('tasks')]
    const isChosen = (values, value) => !values.length || values.includes(value)
    const strata = this.setup.strata.filter(({ source, task }) => isChosen(sources, source) && isChosen(tasks, task))
    const sum = (of) => strata.reduce((total, stratum) => total + of(stratum), 0)
    const all = sum(({ items }) => items)
    for (const input of this.#inputs('[name=scorers]')) {
      const barred = sum((stratum) => stratum.barred[input.value] ?? 0)
      noteOf(input).textContent = barred ? t('worked on {barred} of {sum}', { barred, sum: all }) : t('may score all')
    }
  }

  #changed() {
    this.edits += 1
    this.#showCounts()
    this.preview.classList.add('old')
  }

  /** The plan for the server; null if a field cannot be read, which the form then shows. */
  #plan() {
    try {
      return planOf(new FormData(this.root))
    } catch (error) {
      this.#refused(error)
      return null
    }
  }

  async #preview() {
    const fields = /** @type {HTMLInputElement[]} */ ([...this.root.elements])
    if (!fields.every((field) => field.name === 'name' || field.reportValidity())) return
    const plan = this.#plan()
    if (!plan) return
    const shown = this.#wait(t('Sampling…'))
    try {
      const sampled = await postJSON('/api/v1/blind/preview', { plan: { ...plan, name: plan.name || 'preview' } })
      // It is simulated for sources on the same spectra.
      const { compared: sources } = sampled
      const known = sources > 1 && sampled.scores.length > 0
      const power = h('p.muted.power', t('The chance to show a difference is being calculated…'))
      if (!shown(previewWords(sampled, this.setup.tasks), known && power)) return
      const { spectra, scorers } = sampled
      if (known) await this.#power(power, { spectra, scorers: scorers.length, each: plan.each ?? 2, sources })
    } catch (error) {
      this.#refused(error, shown)
    }
  }

  /**
   * Show that the server works. Returns a function that shows its answer, grey if the form was changed meanwhile;
   * nothing, and false, if something else was requested.
   * @param {string} words
   */
  #wait(words) {
    const { edits } = this
    const waiting = h('p.muted', words)
    this.preview.classList.remove('old')
    fill(this.preview, waiting)
    return (/** @type {any[]} */ ...answer) => {
      if (waiting.parentNode !== this.preview) return false
      fill(this.preview, answer)
      this.preview.scrollIntoView({ block: 'nearest' })
      this.preview.classList.toggle('old', this.edits !== edits)
      return true
    }
  }

  /** Show how likely the session is to show a difference; it is simulated, which takes seconds. */
  async #power(place, numbers) {
    try {
      const power = await postJSON('/api/v1/blind/power', numbers)
      fill(place, ...power.sentences.map((sentence) => h('span.line', sentence)))
    } catch (error) {
      place.textContent = t('The chance to show a difference is not known: {message}', { message: error.message })
      if (!error.kind) throw error
    }
  }

  async #draw() {
    const plan = this.#plan()
    if (!plan) return
    const text = JSON.stringify(plan)
    if (this.sent?.text !== text) this.sent = { text, key: newKey() }
    const shown = this.#wait(t('The session is being created…'))
    try {
      const session = await postJSON('/api/v1/blind/sessions', { plan, key: this.sent.key })
      this.sent = null
      const { id } = session
      shown(h('p.note', t('Session {id} is created. Read its checks in the list of sessions, then open it.', { id })))
      this.onDrawn(session)
    } catch (error) {
      this.#refused(error, shown)
    }
  }

  #refused(error, shown = this.#wait('')) {
    shown(h('p.note.look', { role: 'alert' }, error.message))
    if (!error.kind && !error.forPerson) console.error(error)
  }
}

/** The note behind a box to tick. @param {HTMLInputElement} input */
const noteOf = (input) => part(/** @type {HTMLElement} */ (input.parentElement), '.hand')

/** @param {Record<string, string>} values with their texts */
const choices = (title, name, values) => radios(title, name, Object.entries(values))

/** @param {Record<string, string>} values with their texts */
const choose = (name, label, values) => select(name, label, Object.entries(values))

/** Which items may be sampled. */
function filterFields({ states, survey, batch, listed }) {
  const any = (values, text = (value) => value) => [['', t('any')], ...values.map((value) => [value, text(value)])]
  return folded(
    t('Only some of the items'),
    h(
      'div.numbers',
      select('state', t('State'), any(states, word)),
      select('survey', t('Survey'), any(survey)),
      select('batch', t('Batch'), any(batch)),
      listed.length > 0 && select('listed', t('List of items'), [['', t('any')], ...listed.map(listChoice)]),
      choose('simulated', t('Simulated'), { '': t('any'), true: t('only simulated'), false: t('only observed') }),
      number('snr_min', t('S/N from'), { step: 'any' }),
      number('snr_max', t('S/N to'), { step: 'any' }),
      choose('disagreement', t('Disagreement'), { '': t('any'), true: t('only with'), false: t('only without') }),
    ),
    line('items', t('Or exactly these items, by number'), { placeholder: '12, 15, 18', inputMode: 'numeric' }),
  )
}

/** A list with its name, owner and number of items. @returns {[string, string]} */
function listChoice({ id, name, person, items }) {
  return [String(id), tn('{name} · {person} · {n} item', '{name} · {person} · {n} items', items, { name, person })]
}

/** How spectra are sampled, training items, and people who saw a trace before. */
function designFields() {
  return folded(
    t('Sampling and training'),
    h(
      'div.numbers.wide',
      choose('design', t('Sources are compared on'), {
        'same spectra': t('the same spectra'),
        separate: t('spectra sampled for each source'),
      }),
      choose('strata', t('The number of spectra is per'), {
        '': t('class'),
        survey: t('class and survey'),
        label: t('class and label'),
        'survey label': t('class, survey and label'),
      }),
      choose('earlier', t('Traces that a scorer saw in an earlier session'), {
        declare: t('shown again, and declared in the report'),
        bar: t('not shown to that scorer again'),
      }),
      line('training', t('Training items: shown first, not counted'), { placeholder: '3, 8', inputMode: 'numeric' }),
    ),
  )
}

/** What will be analysed: frozen when the session opens. The sources to compare are those of the chosen version. */
function analysisFields() {
  const excludes = t('0 to 1; a scorer with a smaller share is excluded')
  const share = { min: 0, max: 1, step: 'any', placeholder: t('nobody is excluded'), title: excludes }
  const margin = { min: 0, step: 'any', placeholder: t('none'), title: t('smaller differences do not matter') }
  const stopping = { maxLength: 500, placeholder: t('when every question is answered') }
  const about = t(
    'Frozen when the session opens, and printed in the report. The primary comparison is tested ' +
      'alone; all other claims are adjusted for their number.',
  )
  const dimensions = { consistency: t('physical consistency'), coherence: t('coherence') }
  return folded(
    t('Analysis plan'),
    h('p.muted', about),
    h(
      'div.numbers.wide',
      choose('first', t('Primary comparison: this source'), { '': t('the first of the session') }),
      choose('second', t('less this source'), { '': t('the second of the session') }),
      choose('dimension', t('in the scores of'), dimensions),
      number('margin', t('Margin of equivalence, in points'), margin),
      number('gold_within', t('Least share of gold scores within the tolerance'), share),
      number('repeats_within_1', t('Least share of repeats at most 1 point apart'), share),
    ),
    check('without_revealing', 'true', t('Exclude traces that reveal their author from the primary analysis')),
    line('stopping', t('When the session will be closed'), stopping),
  )
}

function goldFields() {
  const about = t(
    'Hidden among the other items, and counted in calibration only. One line per item: number, ' +
      'coherence, physical consistency and tolerance (default 1); - where no score is expected.',
  )
  const placeholder = '17 5 4\n23 - 0 2'
  const field = { name: 'gold', rows: 3, placeholder, 'aria-label': t('Gold items'), spellcheck: false }
  return folded(t('Gold items with their expected scores'), h('p.muted', about), h('textarea', field))
}
