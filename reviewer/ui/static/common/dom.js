// Building elements. Text always goes in as text, so no trace, comment or name can become markup.

/**
 * An element with properties, attributes, listeners and children.
 * @param {string} tag  "div", or "div.card.selected"
 * @param {Object} props  on* are listeners, data-/aria-/role/title go in as attributes, the rest as properties
 * @param {...(Node|string|null|false|Array)} children
 */
export function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split('.')
  const element = document.createElement(name)
  if (classes.length) element.className = classes.join(' ')
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue
    if (key.startsWith('on')) element.addEventListener(key.slice(2).toLowerCase(), value)
    else if (key in element && !key.includes('-') && key !== 'list') element[key] = value
    else element.setAttribute(key, value === true ? '' : value)
  }
  append(element, children)
  return element
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    if (Array.isArray(child)) append(element, child)
    else element.append(child)
  }
}

/** Replace what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren()
  append(element, children)
  return element
}

/** A key cap, drawn as on the keyboard. */
export const cap = (key) => h('kbd.cap', {}, key)

/** A sentence in which our own commands are set apart, so that they can be read and copied whole. */
export const withCommands = (sentence) =>
  sentence
    .split(/(spec-o3 [a-z]+(?: --?[a-z-]+(?: [^\s,;]*[^\s,;.])?)*)/)
    .map((part, at) => (at % 2 ? h('code.command', {}, part) : part))
