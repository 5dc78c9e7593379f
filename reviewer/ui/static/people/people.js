// The People tab: a table, whose rows a coordinator opens to change a person, and dialogs of the header line.

import { fill, h } from '../common/dom.js'
import { check, folded, group, line } from '../common/fields.js'
import { number } from '../common/format.js'
import { Refused, getJSON, postJSON } from '../common/http.js'
import { t, word } from '../common/language.js'
import { Notices } from '../common/notices.js'
import { button, mountPage, table } from '../common/page.js'
import { openPanel } from '../common/panels.js'
import { openRules, openVerdictFirst } from './campaign.js'
import { form, openForm, passwordFields, passwordLine, pill } from './forms.js'
import { openTokens, openWebhooks } from './scripts.js'

/** Put the tab's content into `root`. @param {HTMLElement | null} root */
export const mountPeople = (root) => mountPage(root, (place) => new PeoplePage(place))

class PeoplePage {
  #me = /** @type {Person} */ ({})
  #answer = /** @type {People} */ ({})
  #answers = '' // what is drawn

  constructor(root) {
    root.classList.add('so-page')
    this.notices = new Notices()
    this.header = h('header')
    this.list = h('div')
    fill(root, this.header, this.notices.line, this.list)
  }

  /** Draw everything anew; after a dialog, say what was done in it. @param {(() => Promise<any>) | null} dialog */
  async refresh(dialog = null) {
    this.notices.clear()
    try {
      const text = await dialog?.()
      const answers = await Promise.all([getJSON('/api/v1/me'), getJSON('/api/v1/people')])
      const drawn = this.#answers
      this.#answers = JSON.stringify(answers)
      ;[this.#me, this.#answer] = answers
      if (this.#answers !== drawn) this.#draw() // a button that is replaced while it is pressed gets no click
      if (text) this.notices.show(text, { tone: 'good' })
    } catch (error) {
      this.notices.error(error)
    }
  }

  #draw() {
    const me = this.#me
    const { notice, people, shortest_password: shortest, to_do: isToDo } = this.#answer
    const leads = (this.leads = me.roles.includes('coordinator'))
    this.alone = !people.some((person) => person.has_password)
    this.least = t('{n} characters or more', { n: shortest })
    const opens = (label, dialog, kind = /** @type {any} */ ('button')) =>
      button(label, () => this.refresh(dialog), kind)
    const active = people.filter((person) => person.active).length
    fill(
      this.header,
      h('h2', t('People')),
      h('span.muted', t('{n} active', { n: active })),
      h('span.spring'),
      opens(t('Rules'), () => openRules(me, this.#answer, leads)),
      opens(t('Verdict first'), () => openVerdictFirst(me, leads)),
      leads && opens(t('Webhooks'), () => openWebhooks(me)),
      opens(t('API tokens'), () => openTokens(me, leads)),
      opens(t('My password'), () => this.#ownPassword()),
      leads && opens(t('Add a person'), () => this.#add(), 'button.primary'),
    )
    const heads = [t('Initials'), t('Full name'), t('Roles'), t('Signs in'), t('Decisions')]
    const sheetOf = (at) => ({ className: 'opens', onClick: () => this.refresh(() => this.#sheet(people[at])) })
    const rows = people.map((person) => this.#row(person))
    const list = table(heads, rows, '', leads ? sheetOf : undefined)
    fill(this.list, notice && h(isToDo ? 'p.notice' : 'p.notice.info', notice), list)
  }

  /** @param {PersonListed} person */
  #row({ initials, name, roles, active, decisions, login, has_password: hasPassword }) {
    const change = { 'aria-label': t('Change {initials}', { initials }) }
    const missing = this.alone ? t('with initials alone') : pill(t('no password yet'), 'amber')
    const signsIn = [hasPassword ? t('with a password') : missing, login && h('div.muted', login)]
    const label = this.leads ? h('button.row-button', change, initials) : h('b', initials)
    const named = [label, initials === this.#me.initials && t(' (you)')]
    const pills = roles.map((role) => [pill(word(role)), ' '])
    return [named, name, pills, active ? signsIn : pill(t('not active'), 'grey'), number(decisions)]
  }

  /** What a coordinator changes of a person. @param {PersonListed} person */
  #sheet({ initials, name, roles, active, login }) {
    return openPanel(`${initials} · ${name}`, (/** @type {(text: string) => void} */ close) => {
      const post = (what, body) => postJSON(`/api/v1/people/${encodeURIComponent(initials)}/${what}`, body)
      const part = (fields, act, send, tag = 'button.primary') =>
        form(this.#me, fields, act, async (data) => close((await send(data)).text), tag)
      const shown = line('name', t('Name shown'), { value: name, required: true, maxLength: 100 })
      const save = (data) => post('account', { name: data.get('name'), roles: data.getAll('roles') })
      const password = passwordFields(this.#me, t('New password'), this.least)
      const setTheirs = (data) => setPassword(this.#me, initials, data)
      const hint = t('Sign-in name at your provider, e.g. a mail address')
      const named = line('login', hint, { value: login, maxLength: 200 })
      const setLogin = (data) => post('login', { login: data.get('login') })
      const [leave, tag] = active ? [t('Deactivate'), 'button.danger'] : [t('Reactivate'), 'button']
      return h(
        'div.sections',
        part([shown, this.#roles(roles)], t('Save'), save),
        folded(t('New password'), part(password, t('Set password'), setTheirs)),
        folded(t('Sign-in through a proxy'), part(named, t('Set sign-in name'), setLogin)),
        part(null, leave, () => post('active', { active: !active }), tag),
      )
    })
  }

  #roles(chosen) {
    const roles = Object.entries(this.#answer.roles)
    const choices = roles.map(([role, words]) => check('roles', role, word(role), words, chosen.includes(role)))
    return group(t('Roles'), '', choices)
  }

  #ownPassword() {
    const me = this.#me
    const fields = [
      this.alone && h('p', this.#answer.notice),
      me.has_password && passwordLine('present', t('Present password'), '', 'current-password'),
      passwordLine('password', t('New password'), this.least),
      passwordLine('again', t('Repeat the password')),
    ]
    return openForm(me, t('My password'), fields, t('Set my password'), async (data) => {
      if (data.get('password') === data.get('again')) return setPassword(me, me.initials, data)
      throw new Refused(422, { kind: 'person', error: t('The two passwords differ; nothing was changed.') })
    })
  }

  /** Add a person. Whoever has no password sets their own first. */
  #add() {
    if (!this.#me.has_password) return this.#ownPassword()
    const { team } = this.#answer
    const n = this.#answer.shortest_password
    const first = t('{n} characters or more. They can change it here.', { n })
    const fields = [
      line('initials', t('Initials'), { required: true, maxLength: 4 }),
      line('name', t('Full name'), { required: true, maxLength: 100 }),
      this.#roles(['reviewer']),
      passwordFields(this.#me, t('First password'), first),
      team && check('team', 'yes', team, '', true),
    ]
    return openForm(this.#me, t('Add a person'), fields, t('Add'), (data) => {
      const others = { roles: data.getAll('roles'), team: data.has('team') }
      return postJSON('/api/v1/people', { ...Object.fromEntries(data), ...others })
    })
  }
}

/** Set a password. One's own ends every session of this person: they sign in with it and go on where they are. */
async function setPassword(me, initials, data) {
  const [password, present] = [data.get('password'), data.get('present') ?? '']
  const answer = await postJSON(`/api/v1/people/${encodeURIComponent(initials)}/password`, { password, present })
  if (initials === me.initials) await window.specO3?.signInAgain?.(initials, password)
  return answer
}
