// Building elements. Text is always added as text, so no trace, comment or name can become markup.

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */

/**
 * An element with properties, attributes, listeners and children.
 * @template {string} Tag
 * @param {Tag} tag e.g. "div" or "div.card.selected"
 * @param {...(Record<string, any> | Child)} parts the properties, which may be left out, then the children: on* are
 *   listeners; names that the element has are properties, others attributes
 * @returns {ElementOf<Tag>}
 */
export function h(tag, ...parts) {
  const [name, ...classes] = tag.split('.')
  const element = /** @type {any} */ (document.createElement(name))
  if (classes.length) element.className = classes.join(' ')
  // In a form a button would submit unless it says otherwise.
  if (name === 'button') element.type = 'button'
  const plain = parts[0] && Object.getPrototypeOf(parts[0]) === Object.prototype
  for (const [key, value] of plain ? Object.entries(/** @type {any} */ (parts.shift())) : []) {
    if ((value ?? false) === false) continue
    if (key.startsWith('on')) element.addEventListener(key.slice(2).toLowerCase(), value)
    else if (key in element && !key.includes('-') && key !== 'list') element[key] = value
    else element.setAttribute(key, value === true ? '' : value)
  }
  append(element, /** @type {Child[]} */ (parts))
  return element
}

/** @param {Element} element @param {Child[]} children */
function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child)
    else if ((child ?? false) !== false) element.append(/** @type {Node | string} */ (child))
  }
}

/** Replace the children. @template {Element} E @param {E} element @param {...Child} children @returns {E} */
export function fill(element, ...children) {
  element.replaceChildren()
  append(element, children)
  return element
}

/**
 * Replace the children, but leave those that stay the same: a button replaced while it is pressed gets no click.
 * @param {Element} element @param {...Child} children
 */
export function refill(element, ...children) {
  const old = [...element.childNodes]
  const next = [...fill(h('div'), ...children).childNodes].map((node) => {
    const at = old.findIndex((child) => child.isEqualNode(node))
    return at < 0 ? node : old.splice(at, 1)[0]
  })
  for (const node of old) node.remove()
  let place = element.firstChild
  for (const node of next) {
    if (node === place) place = place.nextSibling
    else element.insertBefore(node, place)
  }
}

/**
 * Replace the children of an element by those of another one, but leave a descendant where it is: it keeps its focus,
 * cursor and text. `twin` has the same place in the new content as `kept` in the old, and is dropped.
 * @param {Element} element @param {Element} fresh @param {Element} kept @param {Element} twin
 */
export function fillAround(element, fresh, kept, twin) {
  let [old, now] = [kept, twin]
  while (old !== element) {
    const [oldParent, newParent] = [/** @type {Element} */ (old.parentNode), /** @type {Element} */ (now.parentNode)]
    const children = [...newParent.childNodes]
    const at = children.indexOf(now)
    for (const child of [...oldParent.childNodes]) if (child !== old) child.remove()
    old.before(...children.slice(0, at))
    old.after(...children.slice(at + 1))
    old = oldParent
    now = newParent
  }
  if (now !== fresh) throw new Error('the two elements are not at the same depth')
}

/** A key cap, drawn as on the keyboard. */
export const cap = (/** @type {string} */ key) => h('kbd.cap', key)

/** A sentence with its `spec-o3` commands as code elements, which are easy to copy. */
export const withCommands = (/** @type {string} */ sentence) =>
  sentence
    .split(/(spec-o3 [a-z]+(?: --?[a-z-]+(?: [^\s,;]*[^\s,;.])?)*)/)
    .map((piece, at) => (at % 2 ? h('code.command', piece) : piece))

/** A part that an element must have. @param {ParentNode} root @param {string} selector */
export function part(root, selector) {
  const element = root.querySelector(selector)
  if (!element) throw new Error(`no ${selector} in this element`)
  return element
}
