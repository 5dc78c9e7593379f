// A SAMP hub (IVOA SAMP 1.3), with the calls of the Web Profile: where app and browser share a machine, the server
// passes them on; elsewhere they go to the hub of the person's machine, which asks before it accepts the page.

import { getJSON, postBytes, postJSON } from '../common/http.js'
import { t } from '../common/language.js'

const WEB_HUB = 'http://localhost:21012/'
const METADATA = { 'samp.name': 'Spec-o3', 'samp.description.text': 'Review of spectra and of the traces about them' }

/** A message: what it is about and its parameters. @typedef {{mtype: string, params: Record<string, any>}} Message */

export class Hub {
  #call
  #fetch
  #key = ''
  /** Of the page itself and of the hub. @type {string[]} */
  #own = []

  /** @param {boolean} here whether the server passes the calls on */
  constructor(here) {
    this.here = here
    this.#call = here ? callByServer : callByPage
    this.#fetch = here ? fetchByServer : (/** @type {string} */ url) => fetchByPage(this.translator + url)
    this.translator = ''
  }

  /** Register with a hub. @param {string[]} mtypes that the page understands @throws {Error} none accepts the page */
  static async connect(mtypes) {
    const { here } = await getJSON('/api/v1/samp')
    const hub = new Hub(here)
    const answer = await hub.#call('register', here ? [] : [METADATA])
    hub.#key = answer['samp.private-key']
    hub.#own = [answer['samp.self-id'], answer['samp.hub-id']]
    hub.translator = answer['samp.url-translator'] ?? ''
    await hub.call('declareMetadata', METADATA)
    if (!here) await hub.call('allowReverseCallbacks', '1')
    await hub.call('declareSubscriptions', Object.fromEntries(mtypes.map((mtype) => [mtype, {}])))
    return hub
  }

  /** @param {string} method @param {...any} about */
  call = (method, ...about) => this.#call(method, [this.#key, ...about])

  disconnect = () => this.call('unregister')

  /** The names of the other programs that are connected. @returns {Promise<string[]>} */
  async programs() {
    const ids = await this.call('getRegisteredClients')
    return Promise.all(ids.filter((/** @type {string} */ id) => !this.#own.includes(id)).map(this.name))
  }

  /** The name of a program; its id once it has gone. @param {string} id @returns {Promise<string>} */
  name = (id) =>
    this.call('getMetadata', id).then(
      (about) => about['samp.name'] || id,
      () => id,
    )

  /** Send a message to all that understand it. @param {Message} message @returns {Promise<string[]>} their names */
  async send({ mtype, params }) {
    const receivers = await this.call('notifyAll', { 'samp.mtype': mtype, 'samp.params': params })
    return Promise.all(receivers.map(this.name))
  }

  /** New messages; calls among them are answered. @returns {Promise<(Message & {from: string})[]>} */
  async received() {
    const callbacks = await this.call('pullCallbacks', ...(this.here ? [] : ['0']))
    const messages = callbacks.map(async (/** @type {any} */ callback) => {
      const { 'samp.methodName': method, 'samp.params': parts } = callback
      const [sender, message] = [parts[0], parts.at(-1)]
      if (/receiveCall$/.test(method))
        await this.call('reply', parts[1], { 'samp.status': 'samp.ok', 'samp.result': {} }).catch(() => {})
      return { from: await this.name(sender), mtype: message['samp.mtype'], params: message['samp.params'] ?? {} }
    })
    return Promise.all(messages)
  }

  /** The file of a message. @param {string} url @returns {Promise<Blob>} */
  fetch = (url) => this.#fetch(url)
}

/** @param {string} method @param {any[]} args */
const callByServer = async (method, args) => (await postJSON('/api/v1/samp/call', { method, arguments: args })).value

/** @param {string} url */
const fetchByServer = async (url) => new Blob([await postBytes('/api/v1/samp/fetch', { url })])

/** @param {string} url */
async function fetchByPage(url) {
  const response = await fetch(url).catch(() => null)
  if (!response?.ok) throw new Error(t('The file of the other program cannot be read.'))
  return response.blob()
}

/** @param {string} method @param {any[]} args */
async function callByPage(method, args) {
  const body = `<?xml version="1.0"?><methodCall><methodName>samp.webhub.${method}</methodName><params>${args
    .map((value) => `<param>${xmlOf(value)}</param>`)
    .join('')}</params></methodCall>`
  const options = { method: 'POST', headers: { 'Content-Type': 'text/xml' }, body, keepalive: true }
  const response = await fetch(WEB_HUB, options).catch(() => null)
  if (!response?.ok)
    throw new Error(t('No SAMP hub answers on this machine. Start TOPCAT or Aladin, and connect again.'))
  const answer = new DOMParser().parseFromString(await response.text(), 'text/xml')
  const fault = answer.querySelector('methodResponse > fault > value')
  if (fault) throw new Error(t('The SAMP hub refuses: {why}', { why: valueOf(fault).faultString }))
  const value = answer.querySelector('methodResponse > params > param > value')
  return value ? valueOf(value) : ''
}

/** A value in XML-RPC: text, a list or a map. @param {any} value @returns {string} */
export function xmlOf(value) {
  const texts = (/** @type {any[]} */ list) => list.map(xmlOf).join('')
  if (Array.isArray(value)) return `<value><array><data>${texts(value)}</data></array></value>`
  if (value !== null && typeof value === 'object') {
    const member = ([name, of]) => `<member><name>${escaped(name)}</name>${xmlOf(of)}</member>`
    return `<value><struct>${Object.entries(value).map(member).join('')}</struct></value>`
  }
  return `<value><string>${escaped(String(value))}</string></value>`
}

const escaped = (/** @type {string} */ text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** @param {Element} value an element `value` of XML-RPC @returns {any} */
export function valueOf(value) {
  const typed = value.firstElementChild
  if (typed?.tagName === 'array') return [...(typed.querySelector(':scope > data')?.children ?? [])].map(valueOf)
  if (typed?.tagName !== 'struct') return value.textContent ?? ''
  const members = [...typed.children].map(({ children: [name, of] }) => [name.textContent, valueOf(of)])
  return Object.fromEntries(members)
}
