// A hundred types of projects that clusters run: their definitions come up, their objects are kept whole, and what their schemas refuse
// is refused in Kubernetes' words. Through kubectl as well.
import test from 'ava';
import { definitionOf, objectOf, type ProjectKind, pathOf, projectKinds, shapeWords } from '../definitions/projects.ts';
import { pathText, refusalsOf, refused } from '../definitions/shape.ts';
import { eventually } from '../integration/objects.ts';
import type { Answer } from '../server/https-client.ts';
import { type Client, clusters } from './clusters.ts';

/** Of what a kind refuses, spread over its places. */
const REFUSALS_EACH = 6;
const AT_ONCE = 8;

const KINDS = projectKinds();

async function define({ server, dialect }: Client): Promise<void> {
  const { json } = await server.client.get('/openapi/v2');
  const words = shapeWords(json as never, dialect);
  const path = dialect.spell('/apis/apiextensions.@group/v1/customresourcedefinitions');
  await each(KINDS, async (kind) => {
    const { status, text } = await server.client.request('POST', path, { body: definitionOf(kind, dialect, words) });
    if (status !== 201) throw new Error(`${kind.plural}.${kind.group}: ${text}`);
  });
  await eventually(
    async () => (await Promise.all(KINDS.map((kind) => server.client.get(pathOf(kind))))).map(({ status }) => status),
    (statuses) => statuses.every((status) => status === 200),
  );
}

const { inBothDialects, inKubernetes } = clusters(test, { prepare: define });

/** Runs something for all, a few at a time. */
async function each<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const lane = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await run(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Two kubectls may run the same test on one server. */
const nameFor = ({ isOlder }: Client['kubectl'], name: string): string => (isOlder ? `${name}-older` : name);

const causesOf = ({ json }: Answer): readonly string[] | undefined =>
  (json.details as { causes?: { field: string; message: string }[] } | undefined)?.causes?.map(
    ({ field, message }) => `${field}: ${message}`,
  );

test('there are a hundred kinds', (t) => {
  t.true(KINDS.length >= 100);
});

inBothDialects(
  'objects of a hundred kinds are kept whole, but for what their schemas do not know',
  async (t, { server, kubectl }) => {
    const wrong: string[] = [];
    await each(KINDS, async (kind) => {
      const { metadata, ...whole } = objectOf(kind, nameFor(kubectl, 'whole'));
      const body = { ...whole, metadata, unknownToTheSchema: 1 };
      const { status, json, text } = await server.client.request('POST', pathOf(kind), { body: body as object });
      const { metadata: _given, ...kept } = json as unknown as Record<string, unknown>;
      if (status !== 201) wrong.push(`${kind.kind}: ${text}`);
      else if (!t.like(kept, whole) || 'unknownToTheSchema' in kept) wrong.push(`${kind.kind} is kept as ${text}`);
    });
    t.deepEqual(wrong, []);
  },
);

inBothDialects('what the schemas of a hundred kinds refuse is said, with its place', async (t, { server }) => {
  const wrong: string[] = [];
  await each(KINDS.flatMap(someRefusals), async ({ kind, refusal }) => {
    const body = refused(objectOf(kind, 'bad'), refusal);
    const answer = await server.client.request('POST', `${pathOf(kind)}?dryRun=All`, { body: body as object });
    const expected = `${pathText(refusal.path)}: ${refusal.message}`;
    const causes = causesOf(answer)?.filter((cause) => !SCALE_PATH.test(cause));
    if (answer.status === 422 && Array.isArray(causes) && causes.length === 1 && causes[0] === expected) return;
    wrong.push(`${kind.kind}: ${answer.status} ${JSON.stringify(causes)} instead of ${expected}`);
  });
  t.deepEqual(wrong, []);
});

/** Replicas and selector of a scale are looked at besides, whatever the schema says. */
const SCALE_PATH = /^\.(?:spec|status)\./;

function someRefusals(kind: ProjectKind) {
  const all = [...refusalsOf(kind.shape, [])].filter(({ path }) => path.length > 0);
  const step = Math.max(1, all.length / REFUSALS_EACH);
  const some = Array.from({ length: Math.min(REFUSALS_EACH, all.length) }, (_, at) => all[Math.floor(at * step)]!);
  return some.map((refusal) => ({ kind, refusal }));
}

inBothDialects(
  'kubectl applies objects of a hundred kinds on the server, twice, and lists them',
  async (t, { kubectl }) => {
    const name = nameFor(kubectl, 'applied');
    const items = KINDS.map((kind) => objectOf(kind, name));
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    for (let round = 0; round < 2; round++) {
      const applied = await kubectl.ok(['apply', '--server-side', '-f', '-'], list);
      t.is(applied.match(/ serverside-applied$/gm)?.length, KINDS.length);
    }
    const names = KINDS.map(({ plural, group }) => `${plural}.${group}/${name}`);
    const listed = await kubectl.ok(['get', '-o', 'name', ...names]);
    t.is(listed.trim().split('\n').length, KINDS.length);
  },
);

/** Places of some kinds, and what is said of them. */
const EXPLAINED: readonly (readonly [version: string, place: string, words: RegExp])[] = [
  ['cert-manager.io/v1', 'certificates.spec.privateKey', /algorithm\s+<string>/],
  ['monitoring.coreos.com/v1', 'prometheuses.spec.containers', /livenessProbe\s+<Object>/],
  ['argoproj.io/v1alpha1', 'workflows.spec.templates', /activeDeadlineSeconds/],
  ['gateway.networking.k8s.io/v1beta1', 'httproutes.spec.rules', /backendRefs\s+<\[\]Object>/],
  ['controlplane.cluster.x-k8s.io/v1beta1', 'kubeadmcontrolplanes.spec', /kubeadmConfigSpec\s+<Object>\s+-required-/],
  ['apiextensions.crossplane.io/v1', 'compositions.spec.resources', /readinessChecks\s+<\[\]Object>/],
  ['networking.istio.io/v1alpha3', 'virtualservices.spec.http', /corsPolicy\s+<Object>/],
];

// kubectl looks in OpenAPI for words of Kubernetes.
inKubernetes('kubectl explains what definitions of projects say', async (t, { kubectl }) => {
  for (const [version, place, words] of EXPLAINED) {
    const { stdout } = await eventually(
      () => kubectl.run(['explain', '--api-version', version, place]),
      ({ code }) => code === 0,
    );
    t.regex(stdout, words, place);
  }
});
