// The form for a new blind session, with a preview of the sample and of what is left out.

import { fill, h, part } from '../common/dom.js'
import { newKey, postJSON } from '../common/http.js'
import { planOf } from './plan.js'
import { previewWords } from './preview.js'

export class SetupForm {
  /** @param {{onDrawn: (session: Object) => void}} callbacks */
  constructor({ onDrawn }) {
    this.onDrawn = onDrawn
    this.setup = null
    this.sent = null
    this.preview = h('div.preview', { role: 'status' })
    this.root = h('form.blind-setup', {
      onSubmit: (event) => {
        event.preventDefault()
        this.#draw()
      },
      onInput: () => this.#changed(),
    })
  }

  /** Fill the form with the available choices. A form that a person has begun to fill in keeps their choices. */
  fill(setup) {
    const first = this.setup === null
    const same = JSON.stringify(setup) === JSON.stringify(this.setup)
    this.setup = setup
    if (!first && (same || this.begun)) return this.#showBarred()
    const { people, tasks } = setup
    fill(
      this.root,
      h('h2', {}, 'New session'),
      h(
        'label.field',
        {},
        'Name',
        h('input', {
          name: 'name',
          required: true,
          maxLength: 200,
          placeholder: 'not shown to scorers',
          autocomplete: 'off',
        }),
      ),
      this.#group(
        'Sources',
        'none chosen: all drafters',
        this.#counted('source').map(([key, n]) => check('sources', key, key, `${n} items`)),
      ),
      this.#group(
        'Classes',
        'none chosen: all classes',
        this.#counted('task').map(([key, n]) => check('tasks', key, tasks[key], `${n} items`)),
      ),
      this.#group(
        'Questions',
        '',
        [
          ['scores', 'scores, 0 to 5'],
          ['pairs', 'pairs: which is better'],
          ['both', 'both'],
        ].map(([key, text], at) =>
          h('label', {}, h('input', { type: 'radio', name: 'mode', value: key, checked: at === 0 }), ' ', text),
        ),
      ),
      h(
        'div.numbers',
        {},
        number('number', 'Spectra per class', {
          placeholder: 'all',
          min: 1,
          title: 'each with the trace of every source; also per survey or label if they are chosen below',
        }),
        number('each', 'Scorers per spectrum', {
          value: 2,
          min: 1,
          title: 'all traces of a spectrum go to the same scorers',
        }),
        number('repeats', 'Hidden repeats per scorer', {
          value: 0,
          min: 0,
          title: 'items that are shown to each scorer again later, to measure self-consistency',
        }),
        number('seed', 'Seed', { value: 1, min: 0, title: 'the same seed gives the same sample again' }),
      ),
      this.#group(
        'Scorers',
        'people who worked on an item never score it',
        people.map((one) => check('scorers', one.initials, `${one.initials} · ${one.name}`, '', 'hand')),
      ),
      this.#filter(),
      designOf(),
      this.#analysis(),
      h(
        'details',
        {},
        h('summary', {}, 'Gold items with their expected scores'),
        h(
          'p.muted',
          {},
          'Hidden among the other items, and counted in calibration only. One line per item: number, coherence, ' +
            'physical consistency and tolerance (default 1); - where no score is expected.',
        ),
        h('textarea', {
          name: 'gold',
          rows: 3,
          placeholder: '17 5 4\n23 - 0 2',
          'aria-label': 'Gold items',
          spellcheck: false,
        }),
      ),
      this.#group(
        'Texts that may reveal their author',
        '',
        [
          ['flag', 'include and list them'],
          ['leave out', 'exclude'],
        ].map(([key, text], at) =>
          h('label', {}, h('input', { type: 'radio', name: 'giveaways', value: key, checked: at === 0 }), ' ', text),
        ),
      ),
      h(
        'div.verbs',
        {},
        h('button', { type: 'button', onClick: () => this.#preview() }, 'Preview'),
        h('button.primary', { type: 'submit' }, 'Create session'),
      ),
      this.preview,
    )
    this.#showBarred()
  }

  #filter() {
    const { states, survey, batch } = this.setup.filter
    const choose = (name, label, values) =>
      h(
        'label',
        {},
        label,
        h(
          'select',
          { name },
          h('option', { value: '' }, 'any'),
          values.map(([value, text]) => h('option', { value }, text)),
        ),
      )
    return h(
      'details',
      {},
      h('summary', {}, 'Only some of the items'),
      h(
        'div.numbers',
        {},
        choose(
          'state',
          'State',
          states.map((one) => [one, one]),
        ),
        choose(
          'survey',
          'Survey',
          survey.map((one) => [one, one]),
        ),
        choose(
          'batch',
          'Batch',
          batch.map((one) => [one, one]),
        ),
        number('snr_min', 'S/N from', { step: 'any' }),
        number('snr_max', 'S/N to', { step: 'any' }),
        choose('simulated', 'Simulated', [
          ['true', 'only simulated'],
          ['false', 'only observed'],
        ]),
        choose('disagreement', 'Disagreement', [
          ['true', 'only with'],
          ['false', 'only without'],
        ]),
      ),
      h(
        'label.field',
        {},
        'Or exactly these items, by number',
        h('input', { name: 'items', placeholder: '12, 15, 18', inputMode: 'numeric', autocomplete: 'off' }),
      ),
    )
  }

  /** What will be analysed: frozen when the session opens. */
  #analysis() {
    const sources = this.#counted('source').map(([key]) => key)
    return h(
      'details',
      {},
      h('summary', {}, 'Analysis plan'),
      h(
        'p.muted',
        {},
        'Frozen when the session opens, and printed in the report. The primary comparison is tested alone; all other ' +
          'claims are adjusted for their number.',
      ),
      h(
        'div.numbers.wide',
        {},
        select('dimension', 'Primary comparison in', [
          ['consistency', 'physical consistency'],
          ['coherence', 'coherence'],
        ]),
        select('first', 'of', [['', 'the first source'], ...sources.map((one) => [one, one])]),
        select('second', 'against', [['', 'the second source'], ...sources.map((one) => [one, one])]),
        number('margin', 'Margin of equivalence', {
          min: 0,
          step: 'any',
          placeholder: 'none',
          title: 'smaller differences do not matter, in points of the scale',
        }),
        number('gold_within', 'Exclude scorers: gold below', {
          min: 0,
          max: 1,
          step: 'any',
          placeholder: 'never',
          title: 'share of gold scores within the tolerance, 0 to 1',
        }),
        number('repeats_within_1', 'Exclude scorers: repeats below', {
          min: 0,
          max: 1,
          step: 'any',
          placeholder: 'never',
          title: 'share of repeated scores at most 1 apart, 0 to 1',
        }),
      ),
      h(
        'label',
        {},
        h('input', { type: 'checkbox', name: 'without_revealing', value: 'true' }),
        ' Exclude traces that reveal their author from the primary analysis',
      ),
      h(
        'label.field',
        {},
        'When the session will be closed',
        h('input', {
          name: 'stopping',
          maxLength: 500,
          placeholder: 'when every question is answered',
          autocomplete: 'off',
        }),
      ),
    )
  }

  #group(title, hint, choices) {
    return h(
      'fieldset',
      {},
      h('legend', {}, title, hint && h('span.muted', {}, ` · ${hint}`)),
      h('div.choices', {}, choices.length ? choices : h('span.muted', {}, 'nothing here yet')),
    )
  }

  #counted(what) {
    const counts = new Map()
    for (const stratum of this.setup.strata) counts.set(stratum[what], (counts.get(stratum[what]) ?? 0) + stratum.items)
    return [...counts]
  }

  /** Show next to each scorer how many of the chosen items they may not score. */
  #showBarred() {
    const chosen = (name) =>
      [.../** @type {NodeListOf<HTMLInputElement>} */ (this.root.querySelectorAll(`[name=${name}]:checked`))].map(
        (input) => input.value,
      )
    const [sources, tasks] = [chosen('sources'), chosen('tasks')]
    const strata = this.setup.strata.filter(
      (one) => (!sources.length || sources.includes(one.source)) && (!tasks.length || tasks.includes(one.task)),
    )
    const sum = (of) => strata.reduce((total, one) => total + of(one), 0)
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (this.root.querySelectorAll('[name=scorers]'))) {
      const barred = sum((one) => one.barred[input.value] ?? 0)
      part(/** @type {HTMLElement} */ (input.parentElement), '.hand').textContent = barred
        ? `worked on ${barred} of ${sum((one) => one.items)}`
        : 'may score all'
    }
  }

  #changed() {
    this.begun = true
    this.#showBarred()
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
    const plan = this.#plan()
    if (!plan) return
    try {
      const made = await postJSON('/api/blind/preview', { plan: { ...plan, name: plan.name || 'preview' } })
      this.preview.classList.remove('old')
      const sources = new Set(made.scores.map((one) => one.source)).size
      // It is simulated for sources on the same spectra.
      const known = sources > 1 && plan.design !== 'separate'
      const power = h('p.muted.power', {}, 'The chance to show a difference is being calculated…')
      fill(this.preview, previewWords(made, this.setup.tasks), known && power)
      const { spectra, scorers } = made
      if (known) await this.#power(power, { spectra, scorers: scorers.length, each: plan.each ?? 2, sources })
    } catch (error) {
      this.#refused(error)
    }
  }

  /** Show how likely the session is to show a difference; it is simulated, which takes seconds. */
  async #power(place, numbers) {
    try {
      const found = await postJSON('/api/blind/power', numbers)
      fill(
        place,
        found.sentences.map((line) => h('span.line', {}, line)),
      )
    } catch (error) {
      place.textContent = `The chance to show a difference is not known: ${error.message}`
      if (!error.kind) throw error
    }
  }

  async #draw() {
    const plan = this.#plan()
    if (!plan) return
    const text = JSON.stringify(plan)
    if (this.sent?.text !== text) this.sent = { text, key: newKey() }
    try {
      const session = await postJSON('/api/blind/sessions', { plan, key: this.sent.key })
      this.sent = null
      this.preview.classList.remove('old')
      fill(
        this.preview,
        h(
          'p.note',
          {},
          `Session ${session.id} is created. Check the texts that may reveal their author, then open it.`,
        ),
      )
      this.onDrawn(session)
    } catch (error) {
      this.#refused(error)
    }
  }

  #refused(error) {
    this.preview.classList.remove('old')
    fill(this.preview, h('p.note.look', { role: 'alert' }, error.message))
    if (!error.kind && !error.forPerson) console.error(error)
  }
}

const select = (name, label, values) =>
  h(
    'label',
    {},
    label,
    h(
      'select',
      { name },
      values.map(([value, text]) => h('option', { value }, text)),
    ),
  )

/** How spectra are sampled, training items, and people who saw a trace before. */
function designOf() {
  return h(
    'details',
    {},
    h('summary', {}, 'Sampling and training'),
    h(
      'div.numbers.wide',
      {},
      select('design', 'Compare sources on', [
        ['same spectra', 'the same spectra'],
        ['separate', 'their own traces'],
      ]),
      select('strata', 'Spectra per class and', [
        ['', '–'],
        ['survey', 'survey'],
        ['label', 'label'],
        ['survey label', 'survey and label'],
      ]),
      select('earlier', 'Traces seen in an earlier session', [
        ['declare', 'declare in the report'],
        ['bar', 'do not show to that scorer'],
      ]),
    ),
    h(
      'label.field',
      {},
      'Training items, shown first to everybody and not counted',
      h('input', { name: 'training', placeholder: '3, 8', inputMode: 'numeric', autocomplete: 'off' }),
    ),
  )
}

const check = (name, value, text, count, more = '') =>
  h(
    'label',
    {},
    h('input', { type: 'checkbox', name, value }),
    ' ',
    text,
    ' ',
    h(`span.muted${more ? `.${more}` : ''}`, {}, count),
  )

const number = (name, label, props) =>
  h('label', { title: props.title }, label, h('input', { ...props, name, type: 'number' }))
