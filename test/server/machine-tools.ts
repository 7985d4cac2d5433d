// What the machine has, other than Node, that some tests need: programs, and the binary of the fast listener. Where one is missing the
// tests that need it are skipped, and their file says so on stdout: never silently.
import { execFileSync } from 'node:child_process';
import type { TestFn } from 'ava';

interface Tool {
  /** Commands of which one must succeed. */
  readonly probes: readonly (readonly [program: string, ...args: string[]])[];
  /** As a reader knows it. */
  readonly name: string;
  /** The packages of Debian that bring it. */
  readonly debian?: string;
}

const UWS_BINARY = new URL('../../transport/uws/binary.js', import.meta.url).href;

const TOOLS = {
  kubectl: { probes: [['kubectl', 'version', '--client']], name: 'kubectl', debian: 'kubernetes-client' },
  python: {
    probes: [
      ['python3', '-c', 'import kubernetes'],
      ['/usr/bin/python3', '-c', 'import kubernetes'],
    ],
    name: 'a python3 with the Kubernetes client',
    debian: 'python3-kubernetes',
  },
  strace: { probes: [['strace', '-V']], name: 'strace', debian: 'strace' },
  cc: { probes: [['cc', '--version']], name: 'a C compiler (cc)', debian: 'gcc libc6-dev' },
  openssl: { probes: [['openssl', 'version']], name: 'openssl', debian: 'openssl' },
  curl: { probes: [['curl', '--version']], name: 'curl', debian: 'curl' },
  nginx: { probes: [['nginx', '-v']], name: 'nginx', debian: 'nginx-light' },
  etcd: { probes: [['etcd', '--version']], name: 'etcd', debian: 'etcd-server' },
  git: { probes: [['git', '--version']], name: 'git', debian: 'git' },
  uws: {
    probes: [[process.execPath, '-e', `import(${JSON.stringify(UWS_BINARY)}).then(({ loadUws }) => loadUws())`]],
    name: 'a binary of uWebSockets.js for this version of Node and this C library',
  },
  prlimit: { probes: [['prlimit', '--version']], name: 'prlimit', debian: 'util-linux' },
} as const satisfies Readonly<Record<string, Tool>>;

export type ToolName = keyof typeof TOOLS;

const found = new Map<ToolName, boolean>();

/** Whether the machine has the tool. Asked once a process. */
export function hasTool(name: ToolName): boolean {
  const known = found.get(name);
  if (known !== undefined) return known;
  const { probes }: Tool = TOOLS[name];
  const has = probes.some(succeeds);
  found.set(name, has);
  return has;
}

function succeeds([program, ...args]: readonly [program: string, ...args: string[]]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const said = new Set<string>();

function sayOnce(line: string): void {
  if (said.has(line)) return;
  said.add(line);
  process.stdout.write(`${line}\n`);
}

/**
 * `test` for tests that need tools: itself where the machine has them all. Where it has not, tests declared with the answer
 * are skipped, hooks are not run, and a line on stdout says what is missing and how to get it.
 */
export function testNeeding(
  test: TestFn,
  tools: readonly ToolName[],
  say: (line: string) => void = sayOnce,
  has: (name: ToolName) => boolean = hasTool,
): TestFn {
  const missing: readonly Tool[] = tools.filter((name) => !has(name)).map((name) => TOOLS[name]);
  if (missing.length === 0) return test;
  const names = missing.map(({ name }) => name).join(' and ');
  const packages = missing.flatMap(({ debian }) => debian ?? []).join(' ');
  say(`skipping tests that need ${names}${packages === '' ? '' : ` (Debian: apt-get install ${packages})`}`);
  return skipping(test);
}

/** Declares the same tests, to be skipped, and no hooks. */
function skipping(test: TestFn): TestFn {
  const nothing = (): void => {};
  const hook = Object.assign(nothing, { always: nothing });
  const skipped = Object.assign(test.skip.bind(test), {
    serial: test.serial.skip.bind(test.serial),
    before: hook,
    after: hook,
    beforeEach: hook,
    afterEach: hook,
  });
  return skipped as unknown as TestFn;
}
