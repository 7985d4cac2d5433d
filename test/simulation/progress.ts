// How far a long run is: one line rewritten a few times a second on a terminal, one line every few seconds elsewhere, so
// that a log is not flooded. Other output goes through `print`, which keeps the two apart.

const ON_TERMINAL_MS = 250;
const IN_LOG_MS = 5000;

/** What a progress line is written to; process.stdout fits. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export class Progress {
  readonly #output: Output;
  readonly #nowMs: () => number;
  #shownMs = Number.NEGATIVE_INFINITY;
  /** Columns that the line on the terminal takes now. */
  #width = 0;

  constructor(output: Output, nowMs: () => number) {
    this.#output = output;
    this.#nowMs = nowMs;
  }

  /** Shows a state, unless one was shown a moment ago. `line` is made only when it is shown. */
  show(line: () => string): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#shownMs < (this.#output.isTTY ? ON_TERMINAL_MS : IN_LOG_MS)) return;
    this.#shownMs = nowMs;
    this.#put(line());
  }

  /** Shows the last state, whenever one was shown before. */
  end(line: string): void {
    this.#put(line);
    if (this.#width > 0) this.#output.write('\n');
    this.#width = 0;
  }

  /** A line of its own. */
  print(line: string): void {
    const clear = this.#width > 0 ? `\r${' '.repeat(this.#width)}\r` : '';
    this.#width = 0;
    this.#output.write(`${clear}${line}\n`);
  }

  #put(line: string): void {
    if (!this.#output.isTTY) {
      this.#output.write(`${line}\n`);
      return;
    }
    this.#output.write(`\r${line.padEnd(this.#width)}`);
    this.#width = line.length;
  }
}
