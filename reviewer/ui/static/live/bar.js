// The bar of the Live tab: task, policy, samples and settings of the next run; run and stop; send and download.

import { lasting } from '../common/browser_storage.js'
import { cap, fill, h, withCommands } from '../common/dom.js'
import { getJSON } from '../common/http.js'
import { t, tn, withParts } from '../common/language.js'

const FIRST_QUESTION = 'cv' // until somebody chooses another

export class LiveBar {
  #drawn = ''

  /**
   * @param {{tasks: Record<string, TaskText>, policies: Policies, keys: import('../common/keys.js').Keys,
   *   options: RunOptions}} parts `options` is changed in place
   * @param {{onPrimary: () => void, onSend: () => void, onOptions: () => void,
   *   downloads: () => {text: string, format?: string, url: string}[]}} callbacks
   * @param {HTMLElement} benchButton opens the bench where it is not on the page; stands first
   */
  constructor({ tasks, policies, keys, options }, callbacks, benchButton) {
    this.root = h('div.decision-bar', { role: 'toolbar', 'aria-label': t('Run') })
    this.on = callbacks
    this.keys = keys
    this.options = options
    this.policies = policies
    this.primary = h('button.primary.run', { onClick: () => this.on.onPrimary() })
    this.task = h(
      'select',
      {
        'aria-label': t('Question'),
        title: t('the question'),
        onChange: () => this.#changed({ task: this.task.value }),
      },
      Object.entries(tasks).map(([key, { title }]) => h('option', { value: key }, title)),
    )
    if (!(options.task in tasks)) options.task = FIRST_QUESTION in tasks ? FIRST_QUESTION : Object.keys(tasks)[0]
    this.samples = h('input.samples', {
      type: 'number',
      min: 1,
      max: 16,
      step: 1,
      'aria-label': t('Samples'),
      onChange: () => this.#samplesChanged(),
    })
    this.many = h('label.many', this.samples, ' ', (this.manyWord = h('span')))
    this.settings = h('button.settings', { title: t('temperature, seed, limits') })
    this.send = h('button.send', { onClick: () => this.on.onSend() })
    this.load = h('button.download', t('Download ▾'))
    const settings = new Menu(this.settings, t('Settings of a run'), () =>
      h(
        'div.fields',
        h('h3', t('An empty field means the default')),
        settingFields(options.settings, (name, value) => this.#setting(name, value)),
        this.#promptField(),
      ),
    )
    const downloads = new Menu(this.load, t('Downloads'), () =>
      this.on
        .downloads()
        .map(({ text, format, url }) =>
          h(
            'a.option',
            { href: url, download: '', onClick: () => downloads.close() },
            text,
            format && h('span.muted', format),
          ),
        ),
    )
    for (const menu of [settings, downloads]) menu.root.classList.add('right')
    fill(
      this.root,
      benchButton,
      this.primary,
      this.task,
      policies.root,
      this.many,
      settings.root,
      this.send,
      downloads.root,
    )
    for (const select of this.root.querySelectorAll('select')) {
      // Chosen with the mouse, a list gives up the focus; a person who uses the keyboard stays in it.
      select.addEventListener('change', () => select.matches(':focus-visible') || select.blur())
    }
    this.draw({ run: null, row: null })
  }

  /** @param {string} key */
  setTask(key) {
    this.options.task = this.task.value = key
    this.on.onOptions()
  }

  /**
   * @param {{run: Run | null, row: BenchRow | null, running?: Run | null, sent?: string | null, sendable?: number,
   *   name?: string}} state `running`: the run in progress on the row, which may not be the one shown; `name`: of the
   *   run shown; `sent`: the label if the samples have been sent already; `sendable`: how many can be sent
   */
  draw({ run, row, running = null, sent = null, sendable = 0, name = '' }) {
    const stopping = running?.stopping ?? false
    const key = JSON.stringify([
      run?.id,
      running?.id,
      row?.id,
      name,
      stopping,
      sent,
      sendable,
      this.options,
      this.policies.chosen,
      this.prompt,
    ])
    if (key === this.#drawn) return
    this.#drawn = key
    this.primary.disabled = (!row && !running) || stopping
    this.primary.classList.toggle('stop', running !== null)
    fill(
      this.primary,
      running
        ? stopping
          ? t('Stopping …')
          : [t('Stop'), ' ', cap(this.keys.of('stop'))]
        : [run ? t('Again') : t('Run'), ' ', cap(this.keys.of('run'))],
    )
    this.task.value = this.options.task
    this.task.title = this.task.selectedOptions[0]?.textContent ?? ''
    const deterministic = this.policies.chosen?.samples_ok === false
    this.samples.value = String(deterministic ? 1 : this.options.samples)
    this.samples.disabled = deterministic
    this.many.title = deterministic
      ? t('This policy gives the same answer each time: one sample is enough.')
      : t('independent samples of the same spectrum, for a vote (1 to 16)')
    fill(this.manyWord, tn('sample', 'samples', Number(this.samples.value)))
    fill(this.settings, '⚙', h('span', settingsText(this.options.settings, this.prompt)))
    this.settings.setAttribute('aria-label', t('Settings'))
    this.send.disabled = sent !== null || sendable === 0
    fill(
      this.send,
      sent ?? (sendable > 1 ? t('Send all {sendable} to review', { sendable }) : t('Send to review')),
      sent === null && [' ', cap(this.keys.of('send'))],
    )
    this.load.disabled = !run && !row
    this.send.title = this.load.title = run ? t('of the run shown: {run}', { run: name }) : ''
  }

  /** The settings of the next run. @returns {RunSettings} */
  get runSettings() {
    const { chosen } = this.policies
    const samples = chosen?.samples_ok === false ? 1 : this.options.samples
    const { prompt } = this
    return { task: this.options.task, policy: chosen?.key ?? '', prompt, samples, ...this.options.settings }
  }

  /**
   * The prompt of the next run: the person's choice, or the policy's default. Only an imported prompt can be "trained".
   * @returns {'trained' | 'ours'}
   */
  get prompt() {
    if (this.policies.trainedPrompt(this.options.task) === undefined) return 'ours'
    return this.options.prompt ?? (this.policies.chosen?.checkpoint ? 'trained' : 'ours')
  }

  #promptField() {
    const imported = this.policies.trainedPrompt(this.options.task) !== undefined
    const select = h(
      'select',
      { 'aria-label': t('Prompt'), onChange: () => this.#changed({ prompt: select.value }) },
      h('option', { value: 'trained', disabled: !imported }, t('as trained')),
      h('option', { value: 'ours' }, t('ours')),
    )
    select.value = this.prompt
    return [
      h('label', { title: t('question and diagnostic guide that the model reads') }, h('span', t('Prompt')), select),
      h('p.muted', imported ? PROMPT_MEANING : this.policies.promptProblem || notImported()),
    ]
  }

  #samplesChanged() {
    const typed = Math.round(Number(this.samples.value))
    this.#changed({ samples: Number.isFinite(typed) ? Math.max(1, Math.min(16, typed)) : 1 })
  }

  #setting(name, value) {
    if (value === undefined) delete this.options.settings[name]
    else this.options.settings[name] = value
    this.#changed({})
  }

  #changed(change) {
    Object.assign(this.options, change)
    this.on.onOptions()
  }
}

const STORED = 'so-live-options'

const PROMPT_MEANING = t(
  'As trained: the prompt in SpecVI-Bench, on which the published checkpoints were trained; their default. ' +
    'Ours: the guide of the task file; the default of every other policy.',
)
const notImported = () =>
  withParts(
    t(
      'The prompt on which the published checkpoints were trained is not imported for this question: run {command}, ' +
        'then load this page again.',
    ),
    { command: h('code.command', 'spec-o3 tasks import SpecVI-Bench/data') },
  )

/** The settings of a run; `empty` describes an empty field. */
const SETTINGS = [
  {
    name: 'temperature',
    label: t('Temperature'),
    min: 0,
    max: 2,
    step: 0.1,
    empty: t('server default (1 for several samples)'),
    title: t('0 takes the most likely token each time'),
  },
  {
    name: 'seed',
    label: t('Seed'),
    min: 0,
    max: 2 ** 31 - 1,
    step: 1,
    empty: t('chosen by the server'),
    title: t('the same seed, model and server give the same answer; sample 2 has the next seed'),
  },
  {
    name: 'max_tokens',
    label: t('Tokens per turn'),
    min: 1,
    max: 32768,
    step: 1,
    empty: '2048',
    title: t('a turn ends after this many tokens'),
  },
  {
    name: 'max_turns',
    label: t('Turn limit'),
    min: 1,
    max: 32,
    step: 1,
    empty: '8',
    title: t('turns of the agent; the tool call of the last one is not run'),
  },
]

/** The options chosen last. @returns {RunOptions} */
export const remembered = () => ({ samples: 1, settings: {}, ...lasting.read(STORED) })

export const remember = (/** @type {RunOptions} */ options) => lasting.set(STORED, JSON.stringify(options))

/**
 * The fields of the settings sheet.
 * @param {Record<string, number | undefined>} settings @param {(name: string, value: number | undefined) => void}
 *   change
 */
function settingFields(settings, change) {
  return SETTINGS.map(({ name, label, empty, title, ...range }) =>
    h(
      'label',
      { title },
      h('span', label),
      h('input', {
        type: 'number',
        ...range,
        value: settings[name] ?? '',
        placeholder: empty,
        onChange: (event) => {
          const usable = event.target.value !== '' && event.target.checkValidity()
          event.target.setAttribute('aria-invalid', String(event.target.value !== '' && !usable))
          change(name, usable ? Number(event.target.value) : undefined)
        },
      }),
    ),
  )
}

/** What is not left to the server, e.g. "T 0.7 · 12 turns · prompt as trained". */
const settingsText = (
  /** @type {any} */ { temperature, seed, max_tokens: tokens, max_turns: turns },
  /** @type {string} */ prompt,
) =>
  [
    temperature !== undefined && `T ${temperature}`,
    seed !== undefined && t('seed {seed}', { seed }),
    tokens !== undefined && tn('{n} token', '{n} tokens', tokens),
    turns !== undefined && tn('{n} turn', '{n} turns', turns),
    prompt === 'trained' && t('prompt as trained'),
  ]
    .filter(Boolean)
    .join(' · ')

/** A sheet that opens over a button of the bar: settings, downloads, the server's health. */
export class Menu {
  /** @type {Menu | null} */
  static #open = null

  /** Close the menu that is open; false where none is. */
  static closeOpen() {
    if (!Menu.#open) return false
    Menu.#open.close()
    return true
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {string} label of the sheet, for screen readers
   * @param {() => any} content made each time it opens
   */
  constructor(button, label, content) {
    this.button = button
    this.sheet = h('div.sheet', { hidden: true, role: 'dialog', 'aria-label': label })
    this.root = h('span.menu', button, this.sheet)
    button.setAttribute('aria-haspopup', 'dialog')
    button.setAttribute('aria-expanded', 'false')
    button.addEventListener('click', () => (this.sheet.hidden ? this.open() : this.close()))
    this.content = content
    document.addEventListener(
      'pointerdown',
      (event) => !this.root.contains(/** @type {Node} */ (event.target)) && this.close({ focus: false }),
    )
  }

  open() {
    Menu.closeOpen()
    Menu.#open = this
    this.redraw()
    this.sheet.hidden = false
    this.button.setAttribute('aria-expanded', 'true')
    this.sheet.querySelector('input, a, button')?.focus()
  }

  close({ focus = true } = {}) {
    if (this.sheet.hidden) return
    Menu.#open = null
    const focused = document.activeElement
    const within = focused instanceof HTMLElement && this.sheet.contains(focused)
    if (within) focused.blur() // what was typed is accepted before the sheet is hidden
    this.sheet.hidden = true
    this.button.setAttribute('aria-expanded', 'false')
    if (focus && within) this.button.focus()
  }

  get isOpen() {
    return !this.sheet.hidden
  }

  redraw() {
    fill(this.sheet, this.content())
  }
}

const CHECK_EVERY = 10_000 // ms

/** The choice of a policy, and the health of its server, checked while the tab is visible. */
export class Policies {
  /**
   * @param {{isVisible: () => boolean, onChoose: (key: string) => void}} options
   *   `isVisible`: whether the tab is visible
   */
  constructor({ isVisible, onChoose }) {
    /** @type {LivePolicy[]} */
    this.all = []
    /** @type {{trained: Record<string, string>, problem: string}} */
    this.prompts = { trained: {}, problem: '' }
    /** @type {any} */
    this.health = null
    /** @type {string | undefined} */
    this.drawnHealth = undefined
    this.select = h('select', {
      'aria-label': t('Policy'),
      title: t('the policy'),
      onChange: () => this.#chosen(onChoose),
    })
    this.words = h('button.health')
    this.menu = new Menu(this.words, t('The server'), () => this.#facts())
    this.root = h('span.policy', this.select, this.menu.root)
    setInterval(() => isVisible() && this.check(), CHECK_EVERY)
  }

  /** @param {string} [policy] the key to choose, if there is such a policy */
  async load(policy) {
    ;[this.all, this.prompts] = await Promise.all([getJSON('/api/v1/live/policies'), getJSON('/api/v1/live/prompts')])
    fill(
      this.select,
      this.all.map(({ key, title }) => h('option', { value: key }, title)),
    )
    this.select.value = (this.all.find(({ key }) => key === policy) ?? this.all[0]).key
    this.select.title = this.chosen?.note || t('the policy')
    this.check()
  }

  /** The imported prompt of a task; undefined where there is none. @param {string} task */
  trainedPrompt = (task) => this.prompts.trained[task]

  /** Why the imported prompts cannot be read; empty where they can. */
  get promptProblem() {
    return this.prompts.problem
  }

  get chosen() {
    return this.all.find(({ key }) => key === this.select.value) ?? null
  }

  /** @param {string} key */
  titleOf = (key) => this.all.find((policy) => policy.key === key)?.title ?? key

  #chosen(onChoose) {
    this.health = null
    this.select.title = this.chosen?.note || t('the policy')
    this.#draw()
    this.check()
    onChoose(this.select.value)
  }

  async check() {
    const policy = this.select.value
    if (!policy) return
    let health
    try {
      health = await getJSON(`/api/v1/live/health?${new URLSearchParams({ policy })}`)
    } catch (error) {
      health = { ok: false, sentence: t('The state of the server is unknown: {message}', { message: error.message }) }
    }
    if (policy !== this.select.value) return
    this.health = health
    this.#draw()
    if (this.menu.isOpen) this.menu.redraw()
  }

  #draw() {
    const { health } = this
    const key = JSON.stringify(health)
    if (key === this.drawnHealth) return
    this.drawnHealth = key
    this.words.className = `health ${health === null ? 'unknown' : health.ok ? 'well' : 'ill'}`
    this.words.title = health?.sentence ?? ''
    fill(this.words, h('span.dot'), h('span.words', healthText(health)))
  }

  #facts() {
    const { health, chosen } = this
    if (!health) return h('p', t('Checking …'))
    const rows = [
      [t('model'), health.model],
      [t('server'), health.server],
      [t('version'), health.version],
      [t('context'), health.context && tn('{n} token', '{n} tokens', health.context)],
      [t('running'), health.running],
      [t('waiting'), health.waiting],
    ].filter(([, value]) => value !== null && value !== undefined && value !== '')
    return [
      h(`p${health.ok ? '' : '.bad'}`, withCommands(health.sentence)),
      h(
        'dl',
        rows.map(([name, value]) => [h('dt', name), h('dd', String(value))]),
      ),
      chosen?.note && h('p.muted', chosen.note),
    ]
  }
}

/** Which model on which server and how busy it is, or what to do if it does not work. @param {any} health */
function healthText(health) {
  if (health === null) return t('checking …')
  if (!health.ok) return withCommands(health.sentence)
  const busy =
    health.running || health.waiting
      ? t('{running} running, {waiting} waiting', { running: health.running ?? 0, waiting: health.waiting ?? 0 })
      : null
  const server = [health.server, health.version].filter(Boolean).join(' ')
  return [health.model, server, busy].filter(Boolean).join(' · ') || health.sentence
}
