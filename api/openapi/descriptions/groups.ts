// Which texts of this folder are about the types of which group.
import { ADMISSION } from './admission.ts';
import { APPS } from './apps.ts';
import { AUTHORIZATION } from './authorization.ts';
import { AUTOSCALING } from './autoscaling.ts';
import { BATCH } from './batch.ts';
import { CONTAINERS } from './core-containers.ts';
import { CORE_KINDS } from './core-kinds.ts';
import { NODES } from './core-nodes.ts';
import { PODS } from './core-pods.ts';
import { SERVICES } from './core-services.ts';
import { VOLUME_SOURCES } from './core-volume-sources.ts';
import { VOLUMES } from './core-volumes.ts';
import { CUSTOM_KINDS } from './custom-kinds.ts';
import { DISCOVERY } from './discovery.ts';
import { FLOW_CONTROL } from './flow-control.ts';
import { META } from './meta.ts';
import { NETWORKING } from './networking.ts';
import { POLICY } from './policy.ts';
import { STORAGE } from './storage.ts';
import { SYSTEM } from './system.ts';
import type { Descriptions } from './texts.ts';

const CORE: Descriptions = {
  ...CORE_KINDS,
  ...PODS,
  ...CONTAINERS,
  ...NODES,
  ...SERVICES,
  ...VOLUMES,
  ...VOLUME_SOURCES,
};

/** By what the names of a group's types begin with. */
export const TEXTS_BY_GROUP: Readonly<Record<string, Descriptions>> = {
  admissionregistration: ADMISSION,
  apiextensions: CUSTOM_KINDS,
  apps: APPS,
  authentication: AUTHORIZATION,
  authorization: AUTHORIZATION,
  autoscaling: AUTOSCALING,
  batch: BATCH,
  core: CORE,
  discovery: DISCOVERY,
  events: CORE,
  extensions: NETWORKING,
  flowcontrol: FLOW_CONTROL,
  intstr: META,
  meta: META,
  networking: NETWORKING,
  policy: POLICY,
  rbac: AUTHORIZATION,
  resource: META,
  runtime: META,
  storage: STORAGE,
  version: META,
};

/** The texts of all groups that have no entry above. */
export const OTHER_TEXTS = SYSTEM;
