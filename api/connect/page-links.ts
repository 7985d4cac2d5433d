// Links in a page that a backend sends: an HTML document passes through in pieces of any length, and the addresses in it
// are written as they are where the page is seen. Pure; text is a character a byte, so that no encoding matters.

/** Attributes that hold one address each, and the elements where they do. */
const LINKS: Readonly<Record<string, string>> = {
  action: 'form',
  background: 'body',
  cite: 'blockquote del ins q',
  classid: 'object',
  codebase: 'applet object',
  data: 'object',
  formaction: 'button input',
  href: 'a area base link',
  icon: 'command',
  longdesc: 'frame iframe img',
  manifest: 'html',
  poster: 'video',
  profile: 'head',
  src: 'audio embed frame iframe img input script source video',
  usemap: 'img input object',
};
const LINKING: ReadonlySet<string> = new Set(
  Object.entries(LINKS).flatMap(([attribute, elements]) => elements.split(' ').map((name) => `${name} ${attribute}`)),
);
/** Elements that hold text alone, whatever it looks like. */
const TEXT_ONLY = /^(?:iframe|noembed|noframes|script|style|textarea|title|xmp)$/;
const COMMENT = '<!--';
/** A longer tag goes on as it is: nothing more is kept of a page. */
const TAG_MAX = 64 * 1024;

const TAG_NAME = /<[a-z][^\s/>]*/iy;
const BETWEEN = /[\s/]*/y;
const ATTRIBUTE = /=?[^\s/>=]*/y;
const EQUALS = /\s*=\s*/y;
const BARE_VALUE = /[^\s>]*/y;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

interface Tag {
  readonly name: string;
  /** With its links rewritten. */
  readonly text: string;
  /** Of what was read. */
  readonly length: number;
}

export class PageLinks {
  readonly #outside: (reference: string) => string;
  /** Not yet known to be what. */
  #kept = '';
  /** What ends the text that is passed over now. */
  #until: RegExp | undefined;

  /** `outside`: how an address is written where the page is seen. */
  constructor(outside: (reference: string) => string) {
    this.#outside = outside;
  }

  /** The next piece of the page; returns what of it can go on. */
  push(piece: string): string {
    this.#kept += piece;
    let passed = '';
    for (let part = this.#next(); part !== ''; part = this.#next()) passed += part;
    return passed;
  }

  /** What is left when the page is over: a tag that never ended. */
  end(): string {
    return this.#kept;
  }

  /** The next part that can go on; empty where more has to come first. */
  #next(): string {
    const text = this.#kept;
    if (this.#until !== undefined) return this.#passOver(this.#until);
    if (!text.startsWith('<')) return this.#take(text.includes('<') ? text.indexOf('<') : text.length);
    if (text.startsWith(COMMENT)) {
      this.#until = /-->/;
      // The end of a comment may begin with the dashes of its beginning.
      return this.#take(2);
    }
    if (text.length < COMMENT.length && (text === '<' || COMMENT.startsWith(text))) return '';
    if (matchAt(TAG_NAME, text, 0) === '') return this.#take(1);
    const tag = this.#tag(text);
    if (tag === undefined) return text.length > TAG_MAX ? this.#take(text.length) : '';
    if (TEXT_ONLY.test(tag.name)) this.#until = new RegExp(`</${tag.name}(?=[\\s/>])`, 'i');
    this.#take(tag.length);
    return tag.text;
  }

  #take(length: number): string {
    const taken = this.#kept.slice(0, length);
    this.#kept = this.#kept.slice(length);
    return taken;
  }

  #passOver(until: RegExp): string {
    const at = this.#kept.search(until);
    // All but what may be the beginning of the end.
    if (at < 0) return this.#take(Math.max(0, this.#kept.length - until.source.length));
    this.#until = undefined;
    return at > 0 ? this.#take(at) : this.#next();
  }

  /** The tag that the text begins with; undefined where it does not end in it. */
  #tag(text: string): Tag | undefined {
    let at = matchAt(TAG_NAME, text, 0).length;
    const name = text.slice(1, at).toLowerCase();
    let written = '';
    let copied = 0;
    for (;;) {
      at += matchAt(BETWEEN, text, at).length;
      if (text[at] === '>') return { name, text: written + text.slice(copied, at + 1), length: at + 1 };
      const attribute = matchAt(ATTRIBUTE, text, at);
      at += attribute.length;
      const equals = matchAt(EQUALS, text, at);
      at += equals.length;
      const quote = equals !== '' && /["']/.test(text[at] ?? '') ? text[at]! : '';
      const start = at + quote.length;
      const end = valueEnd(text, start, equals === '' ? undefined : quote);
      at = end + quote.length;
      if (end < 0 || at >= text.length) return undefined;
      if (equals === '' || !LINKING.has(`${name} ${attribute.toLowerCase()}`)) continue;
      written += text.slice(copied, start) + this.#outside(text.slice(start, end));
      copied = end;
    }
  }
}

/** `quote`: undefined where there is no value. Negative where it does not end. */
function valueEnd(text: string, start: number, quote: string | undefined): number {
  if (quote === undefined) return start;
  return quote === '' ? start + matchAt(BARE_VALUE, text, start).length : text.indexOf(quote, start);
}
