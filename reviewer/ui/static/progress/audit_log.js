// The audit log: who did what, newest first, and its verification. For coordinators and a person who works alone.

import { t } from '../common/language.js'
import { fill, h } from '../common/dom.js'
import { dateAndTime, number, timeWithSeconds } from '../common/format.js'
import { getJSON, postJSON } from '../common/http.js'
import { button, table } from '../common/page.js'
import { openPanel } from '../common/panels.js'
import { openTab } from '../common/tabs.js'
import { options } from './tables.js'

const ABOUT = t(
  'Every change of the database, newest first. What was decided, marked or answered is not shown here, so that ' +
    'nobody reads a vote before their own.',
)
const HEADS = [t('No.'), t('Time'), t('Who'), t('What'), t('About'), t('Details')]

/** @param {Person} me */
export const mayReadLog = (me) => me.rules.solo || me.roles.includes('coordinator')

export const openAuditLog = () => openPanel(t('Audit log'), (close) => new LogPanel(close).root, { wide: true })

const choices = (field, all, values) => options(field, [['', all], ...values.map((name) => [name, name])], field.value)

class LogPanel {
  /** Ends of the pages before the present one. @type {(number | null)[]} */
  #earlier = []
  /** @type {number | null} */
  #before = null
  /** @type {number | null} */
  #next = null
  #lastRequest = 0

  /** @param {() => void} close */
  constructor(close) {
    this.close = close
    const onChange = () => {
      this.#earlier = []
      this.#turn(null)
    }
    const item = h('input', { type: 'number', min: '1', step: '1', placeholder: t('any'), onChange })
    this.fields = { who: h('select', { onChange }), what: h('select', { onChange }), item }
    this.rows = h('div.rows', { tabIndex: 0, role: 'region', 'aria-label': t('Entries') })
    this.newer = button(t('← Newer'), () => this.#turn(this.#earlier.pop() ?? null))
    this.older = button(t('Older →'), () => this.#older())
    this.state = h('p.muted', { role: 'status' })
    this.verify = button(t('Verify'), () => this.#verify())
    this.result = h('div', { role: 'status' })
    const labels = { who: t('Person'), what: t('What'), item: t('Item number') }
    const filters = Object.entries(labels).map(([name, label]) => h('label', label, this.fields[name]))
    const footer = h('footer', this.state, this.newer, this.older)
    this.root = h('div.audit-log', h('p.muted', ABOUT), h('div.filters', filters, this.verify), this.result)
    this.root.append(this.rows, footer)
    this.#choose([], [])
    this.#load()
  }

  #choose(people, kinds) {
    choices(this.fields.who, t('everyone'), people)
    choices(this.fields.what, t('everything'), kinds)
  }

  #turn(before) {
    this.#before = before
    this.#load()
  }

  #older() {
    this.#earlier.push(this.#before)
    this.#turn(this.#next)
  }

  async #load() {
    const request = ++this.#lastRequest
    const given = Object.entries(this.fields).map(([name, field]) => [name, field.value])
    const filter = [...given, ['before', String(this.#before ?? '')]].filter(([, value]) => value)
    try {
      const page = await getJSON(`/api/v1/log?${new URLSearchParams(filter)}`)
      if (request !== this.#lastRequest) return
      this.#next = page.next
      this.#choose(page.people, page.kinds)
      const rows = page.entries.map((entry) => this.#row(entry))
      fill(this.rows, table(HEADS, rows))
      this.newer.disabled = this.#earlier.length === 0
      this.older.disabled = page.next === null
      this.state.textContent = rows.length
        ? t('The log ends at {head}', { head: shortHead(page.head) })
        : t('No entry matches.')
      this.state.title = page.head
    } catch (/** @type {any} */ error) {
      if (request === this.#lastRequest) this.state.textContent = error.message
    }
  }

  #row({ number: no, at, person, what, subject, details, text }) {
    const item = /^item (\d+)$/.exec(subject)
    const toItem = () => {
      this.close()
      openTab('review')
    }
    const about = item ? h('a', { href: `#item=${item[1]}`, onClick: toItem }, subject) : subject
    return [number(no), when(at), person ?? '–', what, about, text || inWords(details)]
  }

  async #verify() {
    this.verify.disabled = true
    fill(this.result, h('p.note', t('Verifying every entry and every fact …')))
    try {
      fill(this.result, found(await postJSON('/api/v1/log/check', {})))
    } catch (/** @type {any} */ error) {
      fill(this.result, h('p.note.look', error.message))
    } finally {
      this.verify.disabled = false
    }
  }
}

/** What the verification has found. */
function found({ faults, more_faults: more, entries, seconds }) {
  const time = { entries: number(entries), seconds: seconds.toFixed(1) }
  if (!faults.length)
    return h('p.note.good', t('{entries} entries and all facts they cover are unchanged ({seconds} s).', time))
  const rest = more ? [t('and {more} more', { more: number(more) })] : []
  const lines = [...faults, ...rest].map((line) => h('li', line))
  return h('div.note.look', h('strong', t('Something was changed outside the program.')), h('ul', lines))
}

/** @param {string} iso */
const when = (iso) => `${dateAndTime(iso).slice(0, 10)} ${timeWithSeconds(iso)}`

/** @param {string} head number:hash */
const shortHead = (head) => head.replace(/:(.{12}).*/, ':$1…')

/** @param {Record<string, any>} details */
const inWords = (details) =>
  Object.entries(details)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' · ')
