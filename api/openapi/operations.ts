// The operations on one resource type: for each path it is served at, what each method does, takes and answers.
import type { ResourceType, Subresource } from '../resource-type.ts';
import type { TypeSchema } from '../schema/schema.ts';
import { PROXY_METHODS, rootPath } from '../verbs.ts';
import type { GroupVersionKind } from './definitions.ts';
import { type OperationSubject, operationDescription } from './descriptions/operations.ts';
import type { OperationContext } from './operation-context.ts';
import { capitalized, groupName } from './operation-context.ts';
import { body, inPath, PRETTY, queryOf } from './parameters.ts';
import type { Extensions, Method, SwaggerOperation, SwaggerParameter, SwaggerPath, SwaggerSchema } from './swagger.ts';

const DONE = 'OK';
const CREATED = 'Created';
const ACCEPTED = 'Accepted';
const NAMESPACE = inPath('namespace', 'The namespace of the object, or to look in.');

interface OperationShape {
  readonly action: string;
  readonly about?: Omit<OperationSubject, 'kind'>;
  readonly id: string;
  readonly kind: GroupVersionKind;
  readonly parameters?: readonly SwaggerParameter[];
  readonly answer?: SwaggerSchema;
  /** Status codes beside 200, with what they mean. */
  readonly others?: Readonly<Record<string, string>>;
  readonly produces?: readonly string[];
  readonly consumes?: readonly string[];
}

/** Writes the paths of one resource type. */
export class ResourceOperations {
  readonly #context: OperationContext;
  readonly #type: ResourceType;
  readonly #gvk: GroupVersionKind;
  /** Of operation ids: `CoreV1`. */
  readonly #family: string;
  readonly #tag: string;
  /** Its objects have no Protobuf, and the deprecated paths for watching are not published. */
  readonly #isCustom: boolean;
  readonly #media: {
    readonly taken: readonly string[];
    readonly plain: readonly string[];
    readonly streams: readonly string[];
    readonly patches: readonly string[];
  };

  constructor(context: OperationContext, type: ResourceType) {
    const { dialect } = context;
    const { group, version, kind } = type;
    const name = groupName(group, dialect);
    const texts = ['application/json', 'application/yaml'];
    this.#isCustom = context.schema.kind(group, version, kind) === undefined;
    const plain = this.#isCustom ? texts : [...texts, dialect.protobufMediaType];
    this.#context = context;
    this.#type = type;
    this.#gvk = { group, version, kind };
    this.#family = `${name}${capitalized(version)}`;
    this.#tag = `${name.charAt(0).toLowerCase()}${name.slice(1)}_${version}`;
    this.#media = {
      taken: this.#isCustom ? texts : ['*/*'],
      plain,
      streams: this.#isCustom
        ? texts
        : [...plain, 'application/json;stream=watch', `${dialect.protobufMediaType};stream=watch`],
      patches: [
        'application/json-patch+json',
        'application/merge-patch+json',
        ...(this.#isCustom ? [] : ['application/strategic-merge-patch+json']),
        'application/apply-patch+yaml',
      ],
    };
  }

  /** Path → what is served there. */
  paths(): [string, SwaggerPath][] {
    const { plural, namespaced, verbs } = this.#type;
    const root = rootPath(this.#gvk.group, this.#gvk.version);
    const scope = namespaced ? '/namespaces/{namespace}' : '';
    const inScope = namespaced ? [NAMESPACE] : [];
    const one = [inPath('name', `The name of the ${this.#gvk.kind}.`), ...inScope, PRETTY];
    const paths: [string, SwaggerPath][] = [
      [`${root}${scope}/${plural}`, this.#path([...inScope, PRETTY], this.#collection())],
      [`${root}${scope}/${plural}/{name}`, this.#path(one, this.#object())],
    ];
    if (namespaced && verbs.has('list')) {
      paths.push([
        `${root}/${plural}`,
        this.#path([...this.#context.parameters.list, PRETTY], [this.#listEverywhere()]),
      ]);
    }
    for (const subresource of this.#type.subresources.values()) {
      if (subresource.featureGate !== undefined && !this.#context.isOn(subresource.featureGate)) continue;
      paths.push(...this.#subresource(`${root}${scope}/${plural}/{name}/${subresource.name}`, one, subresource));
    }
    if (verbs.has('watch') && !this.#isCustom) paths.push(...this.#watches(root, scope, one, inScope));
    return paths.filter(([, path]) => Object.keys(path).some((key) => key !== 'parameters'));
  }

  #path(
    parameters: readonly SwaggerParameter[],
    operations: readonly (readonly [Method, SwaggerOperation])[],
  ): SwaggerPath {
    return { ...Object.fromEntries(operations), parameters };
  }

  #scoped(name = this.#gvk.kind): string {
    return `${this.#type.namespaced ? 'Namespaced' : ''}${name}`;
  }

  #operation(shape: OperationShape): SwaggerOperation {
    const prefix = this.#context.dialect.openapiExtensionPrefix;
    const extensions: Extensions = {
      [`${prefix}action`]: shape.action,
      [`${prefix}group-version-kind`]: shape.kind,
    };
    const schema = shape.answer ?? { type: 'string' };
    const answers = Object.entries({ 200: DONE, ...shape.others });
    return {
      description: operationDescription(shape.action, { kind: this.#gvk.kind, ...shape.about }),
      operationId: shape.id,
      tags: [this.#tag],
      schemes: ['https'],
      consumes: shape.consumes ?? this.#media.taken,
      produces: shape.produces ?? this.#media.plain,
      ...(shape.parameters === undefined || shape.parameters.length === 0 ? {} : { parameters: shape.parameters }),
      responses: {
        ...Object.fromEntries(answers.map(([code, description]) => [code, { description, schema }])),
        401: { description: 'Unauthorized' },
      },
      ...extensions,
    };
  }

  #answer(kind = this.#gvk): SwaggerSchema {
    return this.#context.objectSchema(kind.group, kind.version, kind.kind);
  }

  #meta(kind: string): SwaggerSchema {
    return this.#context.definitions.refer(this.#context.schema.type(`meta/v1.${kind}`));
  }

  #list(id: string, parameters: readonly SwaggerParameter[]): [Method, SwaggerOperation] {
    const { group, version, listKind } = this.#type;
    const answer = this.#context.objectSchema(group, version, listKind);
    const operation = { action: 'list', id, kind: this.#gvk, parameters, answer, produces: this.#media.streams };
    return ['get', this.#operation(operation)];
  }

  #listEverywhere(): [Method, SwaggerOperation] {
    return this.#list(`list${this.#family}${this.#gvk.kind}ForAllNamespaces`, []);
  }

  #collection(): [Method, SwaggerOperation][] {
    const { verbs } = this.#type;
    const { parameters } = this.#context;
    const operations: [Method, SwaggerOperation][] = [];
    if (verbs.has('list')) operations.push(this.#list(`list${this.#family}${this.#scoped()}`, parameters.list));
    if (verbs.has('create')) operations.push(this.#create(this.#scoped(), this.#gvk));
    if (verbs.has('deletecollection')) {
      const shape: OperationShape = {
        action: 'deletecollection',
        id: `delete${this.#family}Collection${this.#scoped()}`,
        kind: this.#gvk,
        parameters: [body(this.#meta('DeleteOptions'), false), ...parameters.deleteCollection],
        answer: this.#meta('Status'),
      };
      operations.push(['delete', this.#operation(shape)]);
    }
    return operations;
  }

  #create(name: string, kind: GroupVersionKind, subresource?: string): [Method, SwaggerOperation] {
    const shape: OperationShape = {
      action: 'post',
      about: { subresource },
      id: `create${this.#family}${name}`,
      kind,
      parameters: [body(this.#answer(kind)), ...this.#context.parameters.create],
      answer: this.#answer(kind),
      others: { 201: CREATED, 202: ACCEPTED },
    };
    return ['post', this.#operation(shape)];
  }

  #object(): [Method, SwaggerOperation][] {
    const operations = this.#readAndWrite(this.#scoped(), this.#gvk, this.#type.verbs);
    if (this.#type.verbs.has('delete')) {
      const shape: OperationShape = {
        action: 'delete',
        id: `delete${this.#family}${this.#scoped()}`,
        kind: this.#gvk,
        parameters: [body(this.#meta('DeleteOptions'), false), ...this.#context.parameters.delete],
        answer: this.#type.traits.deleteReturns === 'object' ? this.#answer() : this.#meta('Status'),
        others: { 202: ACCEPTED },
      };
      operations.push(['delete', this.#operation(shape)]);
    }
    return operations;
  }

  #readAndWrite(
    name: string,
    shown: GroupVersionKind,
    verbs: { has(verb: string): boolean },
    subresource?: string,
  ): [Method, SwaggerOperation][] {
    const { parameters, definitions } = this.#context;
    const about = { subresource };
    const answer = this.#answer(shown);
    // An operation on a custom object names that, whatever it is shown as.
    const kind = this.#isCustom ? this.#gvk : shown;
    const operations: [Method, SwaggerOperation][] = [];
    if (verbs.has('get')) {
      const id = `read${this.#family}${name}`;
      operations.push(['get', this.#operation({ action: 'get', about, id, kind, answer })]);
    }
    if (verbs.has('update')) {
      const id = `replace${this.#family}${name}`;
      const taken = [body(answer), ...parameters.update];
      const shape = { action: 'put', about, id, kind, parameters: taken, answer, others: { 201: CREATED } };
      operations.push(['put', this.#operation(shape)]);
    }
    if (verbs.has('patch')) {
      const shape: OperationShape = {
        action: 'patch',
        about,
        id: `patch${this.#family}${name}`,
        kind,
        parameters: [body(definitions.patch()), ...parameters.patch],
        answer,
        others: { 201: CREATED },
        consumes: this.#media.patches,
      };
      operations.push(['patch', this.#operation(shape)]);
    }
    return operations;
  }

  #subresource(path: string, one: readonly SwaggerParameter[], subresource: Subresource): [string, SwaggerPath][] {
    const { group, version, kind, verbs } = subresource;
    const name = this.#scoped(`${this.#gvk.kind}${capitalized(subresource.name)}`);
    const gvk = { group, version, kind };
    const type = this.#context.schema.kind(group, version, kind);
    if (isConnection(type)) return this.#connections(path, one, subresource, type, name);
    if (subresource.name === 'log') return [[path, this.#log(one, name, gvk)]];
    const allowed = new Set<string>(verbs);
    const operations = this.#readAndWrite(name, gvk, allowed, subresource.name);
    if (allowed.has('create')) operations.push(this.#create(name, gvk, subresource.name));
    return [[path, this.#path(one, operations)]];
  }

  #log(one: readonly SwaggerParameter[], name: string, kind: GroupVersionKind): SwaggerPath {
    const options = queryOf(this.#context.schema.type('core/v1.PodLogOptions'));
    const shape = {
      action: 'get',
      about: { subresource: 'log' },
      id: `read${this.#family}${name}`,
      kind,
      produces: ['text/plain', ...this.#media.plain],
    };
    return this.#path([...one, ...options], [['get', this.#operation(shape)]]);
  }

  /** Subresources that are a connection to something behind the server: exec, proxy and their like. */
  #connections(
    path: string,
    one: readonly SwaggerParameter[],
    subresource: Subresource,
    type: TypeSchema,
    name: string,
  ): [string, SwaggerPath][] {
    const { group, version, kind, verbs } = subresource;
    const methods: readonly Method[] = verbs.includes('delete')
      ? PROXY_METHODS.map((method) => method.toLowerCase() as Method)
      : ['get', 'post'];
    const operations = (suffix: string): [Method, SwaggerOperation][] =>
      methods.map((method) => {
        const id = `connect${this.#family}${capitalized(method)}${name}${suffix}`;
        const about = { subresource: subresource.name, method };
        const shape = { action: 'connect', about, id, kind: { group, version, kind }, produces: ['*/*'] };
        return [method, this.#operation(shape)];
      });
    // What is behind it answers, and as it likes.
    const place = one.filter((parameter) => parameter !== PRETTY);
    const options = queryOf(type);
    const paths: [string, SwaggerPath][] = [[path, this.#path([...place, ...options], operations(''))]];
    if (type.field('path') !== undefined) {
      const rest = inPath('path', 'The path behind it.');
      paths.push([`${path}/{path}`, this.#path([...place, rest, ...options], operations('WithPath'))]);
    }
    return paths;
  }

  /** The deprecated paths for watching, kept for old clients. */
  #watches(
    root: string,
    scope: string,
    one: readonly SwaggerParameter[],
    inScope: readonly SwaggerParameter[],
  ): [string, SwaggerPath][] {
    const { plural, namespaced } = this.#type;
    const options = this.#context.parameters.list;
    const watch = (action: string, name: string): [Method, SwaggerOperation] => {
      const id = `watch${this.#family}${name}`;
      const shape = { action, id, kind: this.#gvk, answer: this.#meta('WatchEvent'), produces: this.#media.streams };
      return ['get', this.#operation(shape)];
    };
    const paths: [string, SwaggerPath][] = [
      [
        `${root}/watch${scope}/${plural}`,
        this.#path([...inScope, PRETTY, ...options], [watch('watchlist', this.#scoped(`${this.#gvk.kind}List`))]),
      ],
      [`${root}/watch${scope}/${plural}/{name}`, this.#path([...one, ...options], [watch('watch', this.#scoped())])],
    ];
    if (namespaced) {
      const everywhere = watch('watchlist', `${this.#gvk.kind}ListForAllNamespaces`);
      paths.push([`${root}/watch/${plural}`, this.#path([PRETTY, ...options], [everywhere])]);
    }
    return paths;
  }
}

/** Whether a subresource takes its options from the query and hands the connection on. */
function isConnection(type: TypeSchema | undefined): type is TypeSchema {
  return type?.kind.endsWith('Options') === true;
}
