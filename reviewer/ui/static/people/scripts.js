// What other programs use: API tokens, and webhooks with what was delivered last.

import { address } from '../common/address.js'
import { fill, h } from '../common/dom.js'
import { check, group, line, select } from '../common/fields.js'
import { dateAndTime, timeWithSeconds } from '../common/format.js'
import { getJSON, postJSON, remove } from '../common/http.js'
import { t, tn, withCommas } from '../common/language.js'
import { table } from '../common/page.js'
import { action, openList, pill } from './forms.js'

const TOKENS = t(
  'A token lets a script use this app in your name, under the same rules. Keep it like a password: whoever has ' +
    'it can do what you can.',
)
const WEBHOOKS = t(
  'A webhook sends a signed message to an address of yours when an item is approved or returned, or an export is ' +
    'made. Messages hold numbers and links, no text of traces.',
)
const EVENTS = { approved: t('item approved'), returned: t('item returned'), exported: t('export made') }
const LIFETIMES = [90, 30, 365] // days
const [READ_ONLY, WRITING] = [t('read only'), t('read and write')]

/** One's own tokens; coordinators see and revoke those of everybody. */
export function openTokens(me, everybody) {
  const days = LIFETIMES.map((n) => [String(n), t('in {days} days', { days: n })])
  const heads = [t('Name'), t('Revoke')]
  const rowOf = (notices) => (token) => tokenRow(me, token, notices)
  const about = [TOKENS, ' ', h('a', { href: address('/api/v1/docs') }, t('What a script can do'))]
  const kinds = Object.entries({ '': READ_ONLY, yes: WRITING })
  const choices = [select('writes', t('May'), kinds), select('days', t('Ends'), [...days, ['', t('never')]])]
  const warning = (name) => t('Copy the token “{name}” now: it is not shown again.', { name })
  return openList(me, t('API tokens'), about, {
    path: `/api/v1/tokens?everybody=${everybody}`,
    rows: ({ tokens }, notices) => table(heads, tokens.map(rowOf(notices)), t('No tokens.')),
    field: line('name', t('Name of the new token'), { placeholder: t('e.g. plots'), maxLength: 60, required: true }),
    more: h('div.counts', choices),
    act: t('Make a token'),
    body: (data) => {
      const given = Object.fromEntries(data)
      return { name: given.name, may_write: given.writes === 'yes', days: Number(given.days) || null }
    },
    secret: ({ name, token }) => [t('New token'), token, warning(name)],
  })
}

function tokenRow(me, { id, person, name, may_write: writes, expires_at: ends, used_at: used }, notices) {
  const revoke = async () => {
    await remove(`/api/v1/tokens/${id}`)
    button.replaceWith(pill(t('revoked'), 'grey')) // the row stays: a second click must not meet another one
    notices.show(t('The token is revoked; it opens nothing any more.'), { tone: 'good' })
  }
  const button = action(me, notices, t('Revoke'), revoke, 'button.danger')
  const lastUse = used ? t('last used {time}', { time: dateAndTime(used) }) : t('never used')
  const day = ends && dateAndTime(ends).slice(0, 10)
  const end = ends && new Date(ends) <= new Date() ? t('ended {day}', { day }) : t('ends {day}', { day })
  const about = h('div.muted', ends ? end : t('never ends'), ' · ', lastUse)
  const label = h('b', person === me.initials ? name : `${person} · ${name}`)
  return [[label, ' ', writes ? pill(WRITING, 'amber') : pill(READ_ONLY), about], h('div.controls', button)]
}

export function openWebhooks(me) {
  const choices = Object.entries(EVENTS).map(([event, words]) => check('events', event, words, '', true))
  const warning = t('Copy the secret now and give it to the receiver: it is not shown again.')
  return openList(me, t('Webhooks'), WEBHOOKS, {
    path: '/api/v1/webhooks',
    rows: ({ webhooks }, notices, show) =>
      webhooks.length ? webhooks.map((hook) => webhookPart(me, hook, notices, show)) : h('p.muted', t('No webhooks.')),
    field: line('url', t('Address of the new webhook (https://…)'), { maxLength: 500, required: true }),
    more: group(t('Events'), '', choices),
    act: t('Add a webhook'),
    body: (data) => ({ url: data.get('url'), events: data.getAll('events') }),
    secret: (added) => [t('Secret that signs its messages'), added.secret, warning],
  })
}

function webhookPart(me, webhook, notices, show) {
  const started = t(
    'The webhook is started again; it gets the events from now on. Send a test to see whether it answers.',
  )
  const { id, url, events, waiting, lost, stopped_at: stopped, silent_since: since } = webhook
  const start = async () => {
    await postJSON(`/api/v1/webhooks/${id}/start`, {})
    await show()
    notices.show(started, { tone: 'good' })
  }
  const test = async () => {
    const { delivered, answer } = await postJSON(`/api/v1/webhooks/${id}/test`, {})
    if (delivered) notices.show(t('The test message was delivered: {answer}', { answer }), { tone: 'good' })
    else notices.show(t('The test message was not delivered: {answer}', { answer }))
  }
  const drop = async () => {
    await remove(`/api/v1/webhooks/${id}`)
    controls.replaceWith(pill(t('deleted'), 'grey')) // it stays: a second click must not meet another one
    notices.show(t('The webhook is deleted; nothing more is sent to it.'), { tone: 'good' })
  }
  const again = stopped && action(me, notices, t('Start again'), start)
  const others = [action(me, notices, t('Send a test'), test), action(me, notices, t('Delete'), drop, 'button.danger')]
  const controls = h('div.controls', again, others)
  const last = h('div')
  const load = async () => {
    const { deliveries } = await getJSON(`/api/v1/webhooks/${id}/deliveries`)
    fill(last, table([t('Event'), t('Delivery')], deliveries.map(deliveryRow), t('Nothing was sent yet.')))
  }
  const toggled = ({ target }) => target.open && load().catch((error) => notices.error(error))
  const silent = since && t('Nothing was delivered since {time}.', { time: dateAndTime(since) })
  return h(
    'section',
    { 'aria-label': url },
    h('p', h('b', `${id} · ${url}`), h('br'), withCommas(events.map((event) => EVENTS[event]))),
    stopped && h('p', pill(t('stopped'), 'red'), ' ', silent),
    waiting > 0 && pill(tn('{n} waits', '{n} wait', waiting), 'amber'),
    lost > 0 && pill(tn('{n} was not delivered', '{n} were not delivered', lost), 'amber'),
    controls,
    h('details', { onToggle: toggled }, h('summary', t('Last deliveries')), last),
  )
}

function deliveryRow({ event, at, item, name, attempts, answer, delivered_at: delivered, next_at: next }) {
  const subject = item === null ? name : h('a', { href: `#item=${item}` }, `#${item}`)
  const again = next && (attempts ? t('again at {time}', { time: timeWithSeconds(next) }) : t('waits'))
  const missing = again ? pill(again, attempts ? 'amber' : '') : pill(t('given up'), 'red')
  const state = delivered ? pill(t('delivered'), 'green') : missing
  const when = [EVENTS[event], ' ', subject, h('br'), dateAndTime(at)]
  return [when, [state, h('br'), answer]]
}
