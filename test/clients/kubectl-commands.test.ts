// kubectl's commands that change things, each in a few lines: what it prints, and what is there afterwards. Without a controller
// nothing is rolled out: the tests stand in for it where a command waits for one.
import test from 'ava';
import type { ApiObject, HttpsClient } from '../server/https-client.ts';
import { clusters } from './clusters.ts';

const { inBothDialects, inKubernetes } = clusters(test, {
  // A node that never says that it is well is tainted by nobody but the test.
  args: ['--controllers=*,-nodelifecycle', '--disable-admission-plugins=TaintNodesByCondition'],
});

/** A command and what it says. */
type Step = readonly [command: string, says: RegExp | string];

async function walk(run: (args: string[]) => Promise<string>, ns: readonly string[], steps: readonly Step[]) {
  const surprises: string[] = [];
  for (const [command, says] of steps) {
    const printed = await run([...ns, ...command.split(' ')]);
    if (typeof says === 'string' ? printed !== `${says}\n` : !says.test(printed))
      surprises.push(`${command}: ${printed}`);
  }
  return surprises;
}

async function setStatus(client: HttpsClient, path: string, status: object): Promise<ApiObject> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = await client.request('PATCH', `${path}/status`, { body: { status }, headers });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json;
}

inBothDialects('commands on a deployment change what they say', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('deployment');
  const get = (path: string): string => `get deploy web -o jsonpath={${path}}`;
  const spec = '.spec.template.spec';
  const surprises = await walk((args) => kubectl.ok(args), ns, [
    ['create deployment web --image=a:1', 'deployment.apps/web created'],
    ['set image deploy/web a=a:2', 'deployment.apps/web image updated'],
    [get(`${spec}.containers[0].image`), /^a:2$/],
    ['set env deploy/web MODE=on', 'deployment.apps/web env updated'],
    [get(`${spec}.containers[0].env[0].value`), /^on$/],
    [
      'set resources deploy/web --limits=cpu=1 --requests=cpu=500m',
      'deployment.apps/web resource requirements updated',
    ],
    [get(`${spec}.containers[0].resources.requests.cpu`), /^500m$/],
    ['set serviceaccount deploy/web robot', 'deployment.apps/web serviceaccount updated'],
    [get(`${spec}.serviceAccountName`), /^robot$/],
    ['scale deploy/web --replicas=3', 'deployment.apps/web scaled'],
    ['scale deploy/web --current-replicas=3 --replicas=4', 'deployment.apps/web scaled'],
    [get('.spec.replicas'), /^4$/],
    ['autoscale deploy/web --max=5', 'horizontalpodautoscaler.autoscaling/web autoscaled'],
    ['get hpa web -o jsonpath={.spec.scaleTargetRef.name}={.spec.maxReplicas}', /^web=5$/],
    ['expose deploy/web --port=80', 'service/web exposed'],
    ['get svc web -o jsonpath={.spec.selector.app}', /^web$/],
    ['set selector svc/web app=other', 'service/web selector updated'],
    ['get svc web -o jsonpath={.spec.selector.app}', /^other$/],
    ['annotate deploy/web note=1', 'deployment.apps/web annotated'],
    ['annotate deploy/web note-', 'deployment.apps/web annotated'],
    ['label deploy/web tier=front', 'deployment.apps/web labeled'],
    ['get deploy -l tier=front -o name', 'deployment.apps/web'],
    ['delete deploy,svc,hpa --all', /^deployment\.apps "web" deleted\n.*service "web" deleted\n/s],
  ]);
  t.deepEqual(surprises, []);
});

inBothDialects('kubectl rollout restarts, pauses, and waits for what a controller reports', async (t, client) => {
  const { kubectl, server } = client;
  const ns = await kubectl.freshNamespace('rollout');
  const surprises = await walk((args) => kubectl.ok(args), ns, [
    ['create deployment web --image=a:1', 'deployment.apps/web created'],
    ['rollout restart deploy/web', 'deployment.apps/web restarted'],
    ['get deploy web -o jsonpath={.spec.template.metadata.annotations}', /restartedAt/],
    ['rollout pause deploy/web', 'deployment.apps/web paused'],
    ['get deploy web -o jsonpath={.spec.paused}', /^true$/],
    ['rollout resume deploy/web', 'deployment.apps/web resumed'],
    ['rollout history deploy/web', /^deployment\.apps\/web *\nNo rollout history found\.\n$/],
  ]);
  t.deepEqual(surprises, []);
  t.regex(await kubectl.refused([...ns, 'rollout', 'undo', 'deploy/web']), /no rollout history found/);

  const path = `/apis/apps/v1/namespaces/${ns[1]}/deployments/web`;
  const { generation } = (await server.client.get(path)).json.metadata;
  const going = { observedGeneration: generation, replicas: 1, updatedReplicas: 0 };
  await setStatus(server.client, path, going);
  const waiting = kubectl.follow(t, [...ns, 'rollout', 'status', 'deploy/web']);
  await waiting.lineMatching(/^Waiting for deployment "web" rollout to finish: 0 out of 1 new replicas/);
  await setStatus(server.client, path, { ...going, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 });
  await waiting.lineMatching(/^deployment "web" successfully rolled out$/);
});

inBothDialects('kubectl wait returns when the condition is there, and when the object is gone', async (t, client) => {
  const { kubectl, server } = client;
  const ns = await kubectl.freshNamespace('waiting');
  await kubectl.ok([
    ...ns,
    'run',
    'pod',
    '--image=i',
    '--restart=Never',
    '--overrides={"spec":{"schedulerName":"nobody"}}',
  ]);
  const late = await kubectl.refused([...ns, 'wait', '--for=condition=Ready', 'pod/pod', '--timeout=1s']);
  t.regex(late, /timed out waiting for the condition on pods\/pod/);
  const ready = kubectl.follow(t, [...ns, 'wait', '--for=condition=Ready', 'pod/pod', '--timeout=120s']);
  const conditions = [{ type: 'Ready', status: 'True' }];
  await setStatus(server.client, `/api/v1/namespaces/${ns[1]}/pods/pod`, { phase: 'Running', conditions });
  await ready.lineMatching(/^pod\/pod condition met$/);

  await kubectl.ok([...ns, 'patch', 'pod', 'pod', '-p', '{"metadata":{"finalizers":["example.com/held"]}}']);
  await kubectl.ok([...ns, 'delete', 'pod', 'pod', '--grace-period=0', '--force', '--wait=false']);
  const gone = kubectl.follow(t, [...ns, 'wait', '--for=delete', 'pod/pod', '--timeout=120s']);
  await kubectl.ok([
    ...ns,
    'patch',
    'pod',
    'pod',
    '--type=json',
    '-p',
    '[{"op":"remove","path":"/metadata/finalizers"}]',
  ]);
  await gone.ended();
  t.regex(await kubectl.refused([...ns, 'get', 'pod', 'pod']), /NotFound/);
});

inBothDialects('kubectl create makes what it can make without a manifest', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('making');
  const surprises = await walk((args) => kubectl.ok(args), ns, [
    ['create configmap c --from-literal=a=b', 'configmap/c created'],
    ['create secret generic s --from-literal=a=b', 'secret/s created'],
    ['create secret docker-registry d --docker-username=u --docker-password=p', 'secret/d created'],
    ['create service clusterip v --tcp=80', 'service/v created'],
    ['create service nodeport n --tcp=80', 'service/n created'],
    ['create service externalname e --external-name=a.example.com', 'service/e created'],
    ['create serviceaccount a', 'serviceaccount/a created'],
    ['create quota q --hard=pods=2', 'resourcequota/q created'],
    ['create job j --image=i', 'job.batch/j created'],
    ['create cronjob k --image=i --schedule=@hourly', 'cronjob.batch/k created'],
    ['create poddisruptionbudget b --min-available=1 --selector=a=b', 'poddisruptionbudget.policy/b created'],
    ['run r --image=i', 'pod/r created'],
  ]);
  t.deepEqual(surprises, []);
});

inKubernetes('kubectl create makes what it knows by a Kubernetes group', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('making-more');
  const own = ns[1];
  const rbac = 'rbac.authorization.k8s.io';
  const surprises = await walk((args) => kubectl.ok(args), ns, [
    ['create role r --verb=get --resource=pods', `role.${rbac}/r created`],
    ['create rolebinding r --role=r --user=jane', `rolebinding.${rbac}/r created`],
    [`create clusterrole ${own} --verb=get --resource=pods`, `clusterrole.${rbac}/${own} created`],
    [`create clusterrolebinding ${own} --clusterrole=${own} --user=jane`, `clusterrolebinding.${rbac}/${own} created`],
    ['set subject rolebinding/r --user=joe', `rolebinding.${rbac}/r subjects updated`],
    ['get rolebinding r -o jsonpath={.subjects[*].name}', /^jane joe$/],
    [`create priorityclass ${own} --value=7`, `priorityclass.scheduling.k8s.io/${own} created`],
    ['create ingress i --rule=a.example.com/x=web:80', 'ingress.networking.k8s.io/i created'],
  ]);
  t.deepEqual(surprises, []);
});

inKubernetes('kubectl auth reconcile adds what a role lacks', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('access');
  await kubectl.ok([...ns, 'create', 'role', 'reader', '--verb=get', '--resource=pods']);
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['delete'] }];
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const role = JSON.stringify({ apiVersion, kind: 'Role', metadata: { name: 'reader', namespace: ns[1] }, rules });
  t.regex(await kubectl.ok([...ns, 'auth', 'reconcile', '-f', '-'], role), /reader reconciled$/m);
  t.is(await kubectl.ok([...ns, 'get', 'role', 'reader', '-o', 'jsonpath={.rules[*].verbs[*]}']), 'get delete');
});

inBothDialects('kubectl taints, cordons, drains and uncordons a node', async (t, { kubectl }) => {
  const node = kubectl.isOlder ? 'node-older' : 'node';
  await kubectl.ok(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: node } }));
  const surprises = await walk(
    (args) => kubectl.ok(args),
    [],
    [
      [`taint node ${node} a=b:NoSchedule`, `node/${node} tainted`],
      [`get node ${node} -o jsonpath={.spec.taints[*].key}`, /^a$/],
      [`taint node ${node} a-`, `node/${node} untainted`],
      [`cordon ${node}`, `node/${node} cordoned`],
      [`get node ${node} -o jsonpath={.spec.unschedulable}`, /^true$/],
      [`drain ${node}`, new RegExp(`^node/${node} (?:already cordoned|drained)`)],
      [`uncordon ${node}`, `node/${node} uncordoned`],
      [`get node ${node} -o jsonpath={.spec.unschedulable}`, /^$/],
    ],
  );
  t.deepEqual(surprises, []);
});
