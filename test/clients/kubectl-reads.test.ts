// kubectl where it only looks, over one object of every type: tables, descriptions, discovery, explanations, every version,
// differences and rehearsals.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { clusters } from './clusters.ts';
import { apiVersionOf, builtIns, columnsOf, makeZoo, ZOO, zooManifest } from './zoo.ts';

const { everywhere, inBothDialects, inKubernetes } = clusters(test, {
  // The zoo's node never says that it is well: what would be made of that would come while it is looked at.
  args: ['--controllers=*,-nodelifecycle', '--disable-admission-plugins=TaintNodesByCondition'],
  prepare: ({ kubectl, dialect }) => makeZoo(kubectl, dialect),
});

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** The words under each heading of a table that kubectl printed. */
function rowsOf(table: string): Record<string, string>[] {
  const [heading = '', ...rows] = lines(table);
  const columns = [...heading.matchAll(/\S+(?: \S+)*/g)];
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(({ 0: name, index }, at) => [name, row.slice(index, columns[at + 1]?.index ?? row.length).trim()]),
    ),
  );
}

for (const wide of [[], ['-o', 'wide']]) {
  everywhere(
    `kubectl ${['get', ...wide].join(' ')} prints every type under its own columns`,
    async (t, { kubectl, dialect }) => {
      const types = builtIns(dialect).filter(
        ({ version, preferredVersion, verbs }) => version === preferredVersion && verbs.includes('list'),
      );
      const names = types.map(({ plural, group }) => (group === '' ? plural : `${plural}.${group}`));
      const printed = await kubectl.ok(['get', names.join(), '-A', ...wide]);
      const tables = printed.trimEnd().split('\n\n');
      // Whether the namespace stands before them is for kubectl to say.
      const headings = tables.map((table) =>
        (lines(table)[0] ?? '')
          .trim()
          .replace(/^NAMESPACE +/, '')
          .split(/ {2,}/)
          .join(' | '),
      );
      const expected = types.map(({ kind }) => {
        const shown = columnsOf(kind).filter(({ priority }) => wide.length > 0 || priority === 0);
        return shown
          .map(({ name }) => name)
          .join(' | ')
          .toUpperCase();
      });
      t.deepEqual(headings, expected);
    },
  );
}

/** What `describe` finds out about each object. Those of branded groups it knows by their Kubernetes names only. */
const DESCRIBED: readonly (readonly [object: string, pattern: RegExp, isBranded?: boolean])[] = [
  ['pod/pod', /^ {6}\/p from p \(rw\)$/m],
  ['node/n1', /^ {2}(?:Kubelet|Orchlet)? *Version: +v1\.21\.0$|^System Info:$/m],
  ['deployment/web', /^RollingUpdateStrategy: +25% max unavailable, 25% max surge$/m],
  ['replicaset/set', /^Replicas: +0 current \/ 2 desired$/m],
  ['statefulset/db', /^Volume Claims:\n {2}Name: +data$/m],
  ['daemonset/agent', /^Desired Number of Nodes Scheduled: 0$/m],
  ['job/work', /^Parallelism: +1$/m],
  ['cronjob/nightly', /^Concurrency Policy: +Allow$/m],
  ['service/web', /^NodePort: +http {2}3\d{4}\/TCP$/m],
  ['endpoints/web', /^ {2}Addresses: +10\.0\.0\.5$/m],
  ['configmap/settings', /^Data\n====\na:\n----\n1\n/m],
  ['secret/word', /^a: {2}3 bytes$/m],
  ['pvc/claim', /^(?:Used By|Mounted By): +pod$/m],
  ['pv/pv1', /^ {4}Type: +HostPath \(bare host directory volume\)$/m],
  ['namespace/zoo', /^ ?Container +cpu +- +2 +50m +100m +-$/m],
  ['serviceaccount/robot', /^Image pull secrets: +word$/m],
  ['resourcequota/quota', /^Resource +Used +Hard$/m],
  ['limitrange/limits', /^Container +cpu +- +2 +50m +100m +-$/m],
  ['replicationcontroller/rc', /^Selector: +app=rc$/m],
  ['hpa/web', /^Reference: +Deployment\/web$/m],
  ['pdb/budget', /^ {4}Allowed disruptions: {2}0$/m],
  ['events/pod.1', /^Message: +something was seen$/m],
  ['ingress/web', /^ +\/ +web:80 \(10\.0\.0\.5:80\)$/m, true],
  ['networkpolicy/closed', /^ +Except: 10\.1\.0\.0\/16$/m, true],
  ['storageclass/fast', /^IsDefaultClass: +Yes$/m, true],
  ['role/reader', /^ {2}pods +\[\] +\[\] +\[get list\]$/m, true],
  ['rolebinding/reader', /^ {2}ServiceAccount {2}robot {2}zoo$/m, true],
  ['clusterrole/zoo-reader', /^ {2}nodes +\[\] +\[\] +\[get\]$/m, true],
  ['clusterrolebinding/zoo-reader', /^ {2}User {2}bob *$/m, true],
  ['priorityclass/high', /^GlobalDefault: +false$/m, true],
  ['endpointslice/web-1', /^ {2}- Addresses: {2}10\.0\.0\.5$/m, true],
  ['csinode/n1', /^ {4}disk\.example\.com:$/m, true],
  ['csr/jane', /^Requesting User: +orch-admin$/m, true],
];

everywhere('kubectl describe tells what each kind is about', async (t, { kubectl, dialect }) => {
  const objects = DESCRIBED.map(([object]) => object);
  const text = await kubectl.ok(['-n', ZOO, 'describe', ...objects]);
  t.is([...text.matchAll(/^Name: /gm)].length, objects.length);
  const known = DESCRIBED.filter(([, , isBranded]) => isBranded !== true || dialect.name === 'kubernetes');
  const missed = known.filter(([, pattern]) => !pattern.test(text)).map(([object]) => object);
  t.deepEqual(missed, []);
});

inKubernetes('kubectl explain --recursive lists every field of a type', async (t, { kubectl }) => {
  const { types } = JSON.parse(readFileSync('test/fixtures/types.json', 'utf8')) as {
    types: { name: string; fields: { name: string }[] }[];
  };
  const printed = await kubectl.ok(['explain', 'pod.spec', '--recursive']);
  const listed = [...printed.matchAll(/^ {2,3}(\w+)\t</gm)].map(([, name]) => name);
  const fields = types.find(({ name }) => name === 'core/v1.PodSpec')!.fields.map(({ name }) => name);
  t.true(fields.length > 30);
  t.deepEqual(listed.sort(), fields.sort());
  t.regex(printed, /^ +matchExpressions\t<\[\](?:Object|NodeSelectorRequirement)>/m);
});

/** Of the type that the zoo's definition makes. */
const isCustom = (apiVersion: string): boolean => apiVersion.startsWith('example.com/');

everywhere('kubectl api-resources -o wide lists every type', async (t, { kubectl, dialect }) => {
  const printed = rowsOf(await kubectl.ok(['api-resources', '-o', 'wide']))
    .filter(({ APIVERSION }) => !isCustom(APIVERSION!))
    .map((row) => [
      `${row.NAME} ${row.SHORTNAMES} ${row.APIVERSION} ${row.NAMESPACED} ${row.KIND}`,
      (row.VERBS ?? '').match(/[a-z]+/g)?.sort() ?? [],
    ]);
  const expected = builtIns(dialect)
    .filter(({ version, preferredVersion }) => version === preferredVersion)
    .map((row) => [
      `${row.plural} ${row.shortNames.join()} ${apiVersionOf(row)} ${row.namespaced} ${row.kind}`,
      [...row.verbs].sort(),
    ]);
  t.deepEqual(printed.sort(), expected.sort());
});

everywhere('kubectl api-versions lists every version', async (t, { kubectl, dialect }) => {
  const printed = lines(await kubectl.ok(['api-versions'])).filter((apiVersion) => !isCustom(apiVersion));
  t.deepEqual(printed.sort(), [...new Set(builtIns(dialect).map(apiVersionOf))].sort());
});

everywhere('kubectl get reads every type in every version that is served', async (t, { kubectl, dialect }) => {
  const types = builtIns(dialect).filter(({ verbs }) => verbs.includes('list'));
  const names = types.map(({ plural, version, group }) => `${plural}.${version}.${group}`);
  const each = 'jsonpath={range .items[*]}{.apiVersion} {.kind}{"\\n"}{end}';
  const read = lines(await kubectl.ok(['get', names.join(), '-A', '-o', each]));
  t.deepEqual([...new Set(read)].sort(), types.map((type) => `${apiVersionOf(type)} ${type.kind}`).sort());
});

inBothDialects('kubectl diff shows what an apply would change, and nothing else', async (t, { kubectl, dialect }) => {
  const changed = zooManifest(dialect).replace('maxReplicas: 5', 'maxReplicas: 6');
  const { code, stdout } = await kubectl.run(['diff', '-f', '-'], changed);
  t.is(code, 1);
  const differences = lines(stdout).filter((line) => /^[-+] /.test(line) && !/generation/.test(line));
  t.deepEqual(differences, ['-  maxReplicas: 5', '+  maxReplicas: 6']);
});

inBothDialects('kubectl apply of everything as it is writes nothing', async (t, { kubectl, dialect }) => {
  const types = builtIns(dialect).filter(
    ({ version, preferredVersion, verbs }) =>
      version === preferredVersion && verbs.includes('create') && verbs.includes('list'),
  );
  const names = types.map(({ plural, group }) => (group === '' ? plural : `${plural}.${group}`)).join();
  const each = 'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
  const versions = (): Promise<string> => kubectl.ok(['get', names, '-A', '-o', each]);
  const before = lines(await versions());
  const said = lines(await kubectl.ok(['apply', '-f', '-'], zooManifest(dialect)));
  const known = new Set(before);
  const after = lines(await versions()).filter((line) => known.has(line) || !line.startsWith('Event '));
  t.deepEqual(after, before);
  t.deepEqual(
    said.filter((line) => !/ (?:unchanged|configured)$/.test(line)),
    [],
  );
});

inBothDialects('kubectl create --dry-run=client prints an object, and sends nothing', async (t, { kubectl }) => {
  const ns = ['-n', ZOO];
  const said = await kubectl.ok([...ns, 'create', 'deployment', 'dry', '--image=i', '--dry-run=client', '-o', 'yaml']);
  t.regex(said, /^kind: Deployment$/m);
  t.regex(await kubectl.refused([...ns, 'get', 'deployment', 'dry']), /NotFound/);
});

inBothDialects('kubectl create --dry-run=server answers as if it had been made', async (t, { kubectl }) => {
  const ns = ['-n', ZOO];
  const create = (name: string): string[] => [...ns, 'create', 'deployment', name, '--image=i', '--dry-run=server'];
  const uid = await kubectl.ok([...create('dry'), '-o', 'jsonpath={.metadata.uid} {.spec.progressDeadlineSeconds}']);
  t.regex(uid, /^[0-9a-f-]{36} 600$/);
  t.regex(await kubectl.refused(create('web')), /already exists/);
  t.regex(await kubectl.refused([...ns, 'get', 'deployment', 'dry']), /NotFound/);
});
