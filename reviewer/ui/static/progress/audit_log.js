// The audit log: who did what, newest first, and its verification. For coordinators and a person who works alone.

import { t } from '../common/language.js'
import { fill, h } from '../common/dom.js'
import { dateAndTime, number, timeWithSeconds } from '../common/format.js'
import { getJSON, postJSON } from '../common/http.js'
import { openPanel } from '../common/panels.js'
import { openTab } from '../common/tabs.js'
import { options } from './tables.js'

const ABOUT = t(
  'Every change of the database, newest first. What was decided, marked or answered is not ' +
    'shown here, so that nobody reads a vote before their own.',
)

/** @param {Person} me */
export const mayReadLog = (me) => me.rules.solo || me.roles.includes('coordinator')

export const openAuditLog = () => openPanel(t('Audit log'), (close) => new LogPanel(close).root, { wide: true })

/** @param {HTMLSelectElement} field @param {string} all @param {string[]} values */
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
    const again = () => {
      this.#earlier = []
      this.#before = null
      this.#load()
    }
    this.who = h('select', { onChange: again })
    this.what = h('select', { onChange: again })
    this.item = h('input', { type: 'number', min: '1', step: '1', placeholder: t('any'), onChange: again })
    this.rows = h('tbody')
    this.newer = h('button', { onClick: () => this.#turn(this.#earlier.pop() ?? null) }, t('← Newer'))
    this.older = h('button', { onClick: () => this.#older() }, t('Older →'))
    this.state = h('p.muted', { role: 'status' })
    this.verify = h('button', { onClick: () => this.#verify() }, t('Verify'))
    this.result = h('div', { role: 'status' })
    const head = [t('No.'), t('Time'), t('Who'), t('What'), t('About'), t('Details')].map((name) =>
      h('th', { scope: 'col' }, name),
    )
    this.root = h(
      'div.audit-log',
      h('p.muted', ABOUT),
      h(
        'div.filters',
        h('label', t('Person'), this.who),
        h('label', t('What'), this.what),
        h('label', t('Item number'), this.item),
        this.verify,
      ),
      this.result,
      h(
        'div.rows',
        { tabIndex: 0, role: 'region', 'aria-label': t('Entries') },
        h('table', h('thead', h('tr', head)), this.rows),
      ),
      h('footer', this.state, this.newer, this.older),
    )
    choices(this.who, t('everyone'), [])
    choices(this.what, t('everything'), [])
    this.#load()
  }

  /** @param {number | null} before */
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
    const query = new URLSearchParams()
    for (const [name, field] of Object.entries({ who: this.who, what: this.what, item: this.item }))
      if (field.value) query.set(name, field.value)
    if (this.#before) query.set('before', String(this.#before))
    try {
      const page = await getJSON(`/api/v1/log?${query}`)
      if (request !== this.#lastRequest) return
      this.#next = page.next
      choices(this.who, t('everyone'), page.people)
      choices(this.what, t('everything'), page.kinds)
      fill(
        this.rows,
        page.entries.map((entry) => this.#row(entry)),
      )
      this.newer.disabled = this.#earlier.length === 0
      this.older.disabled = page.next === null
      this.state.textContent = page.entries.length
        ? t('The log ends at {head}', { head: shortHead(page.head) })
        : t('No entry matches.')
      this.state.title = page.head
    } catch (/** @type {any} */ error) {
      if (request === this.#lastRequest) this.state.textContent = error.message
    }
  }

  /** @param {any} entry */
  #row({ number: no, at, person, what, subject, details, text }) {
    const item = /^item (\d+)$/.exec(subject)
    const toItem = () => {
      this.close()
      openTab('review')
    }
    const about = item ? h('a', { href: `#item=${item[1]}`, onClick: toItem }, subject) : subject
    const cells = [number(no), when(at), person ?? '–', what, about, text || inWords(details)]
    return h(
      'tr',
      cells.map((cell, column) => h(column ? 'td' : 'td.number', cell)),
    )
  }

  async #verify() {
    this.verify.disabled = true
    fill(this.result, h('p.note', t('Verifying every entry and every fact …')))
    try {
      const { faults, more_faults: more, entries, seconds } = await postJSON('/api/v1/log/check', {})
      const good = t('{entries} entries and all facts they cover are unchanged ({seconds} s).', {
        entries: number(entries),
        seconds: seconds.toFixed(1),
      })
      const rest = more ? [t('and {more} more', { more: number(more) })] : []
      if (!faults.length) fill(this.result, h('p.note.good', good))
      else
        fill(
          this.result,
          h(
            'div.note.look',
            h('strong', t('Something was changed outside the program.')),
            h(
              'ul',
              [...faults, ...rest].map((line) => h('li', line)),
            ),
          ),
        )
    } catch (/** @type {any} */ error) {
      fill(this.result, h('p.note.look', error.message))
    } finally {
      this.verify.disabled = false
    }
  }
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
