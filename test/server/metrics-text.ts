// The Prometheus text format (version 0.0.4) read strictly, so that a test notices what a scraper would choke on.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|Inf)|NaN)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/y;
const KINDS: readonly string[] = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];

export class MetricsText {
  readonly samples: readonly Sample[];
  /** By family. */
  readonly kinds: ReadonlyMap<string, string>;

  /** Throws at the first line that is not of the format, and where a sample comes before its family's type. */
  constructor(text: string) {
    const samples: Sample[] = [];
    const kinds = new Map<string, string>();
    for (const line of text.split('\n')) {
      if (line === '' || line.startsWith('# HELP ')) continue;
      if (line.startsWith('# TYPE ')) {
        const [, , family = '', kind = ''] = line.split(' ');
        if (!KINDS.includes(kind) || kinds.has(family)) throw new Error(`not a type, or a second one: ${line}`);
        kinds.set(family, kind);
        continue;
      }
      samples.push(sampleOf(line, kinds));
    }
    this.samples = samples;
    this.kinds = kinds;
  }

  /** The sum of the samples of a name whose labels include these. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.matching(name, labels).reduce((total, { value }) => total + value, 0);
  }

  matching(name: string, labels: Readonly<Record<string, string>> = {}): readonly Sample[] {
    const wanted = Object.entries(labels);
    return this.samples.filter(
      (sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value),
    );
  }
}

function sampleOf(line: string, kinds: ReadonlyMap<string, string>): Sample {
  const match = SAMPLE.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = '', labelText = '', valueText = ''] = match;
  const kind = kinds.get(name.replace(/_(?:bucket|sum|count)$/, '')) ?? '';
  if (!kinds.has(name) && !['histogram', 'summary'].includes(kind)) throw new Error(`a sample of no family: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < labelText.length) {
    const label = LABEL.exec(labelText);
    if (label === null) throw new Error(`not a list of labels: ${line}`);
    labels[label[1]!] = label[2]!;
  }
  return { name, labels, value: Number(valueText.replace('Inf', 'Infinity')) };
}
