// SPDX-License-Identifier: Apache-2.0
#include "tools/run/launch/kubernetes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/run/failure.h"

namespace mxc::run {
namespace {

using Json = nlohmann::ordered_json;

// --- as YAML, whose scalars may be JSON's

std::string Yaml(const Json& value, const std::string& indent);

std::string Entry(const Json& value, const std::string& indent) {
  if (value.empty() || !value.is_structured()) return " " + value.dump() + "\n";
  return "\n" + Yaml(value, indent + "  ");
}

std::string Yaml(const Json& value, const std::string& indent) {
  std::string text;
  if (value.is_object()) {
    for (const auto& [name, entry] : value.items()) {
      text += indent + name + ":" + Entry(entry, indent);
    }
    return text;
  }
  for (const Json& entry : value) {
    if (!entry.is_object()) {
      text += indent + "-" + Entry(entry, indent);
      continue;
    }
    text +=
        indent + "- " + Yaml(entry, indent + "  ").substr(indent.size() + 2);
  }
  return text;
}

// --- the objects

Json LabelsOf(const Deployment& job, const std::string& component) {
  Json labels = {{"app.kubernetes.io/name", "mxc"},
                 {"app.kubernetes.io/instance", job.name}};
  if (!component.empty()) labels["app.kubernetes.io/component"] = component;
  return labels;
}

Json ObjectOf(const char* version, const char* kind, const Deployment& job,
              const std::string& suffix, const std::string& component = "") {
  return {
      {"apiVersion", version},
      {"kind", kind},
      {"metadata",
       {{"name", job.name + suffix}, {"labels", LabelsOf(job, component)}}}};
}

std::string ServersOf(const Deployment& job) {
  std::string addresses;
  for (uint32_t rank = 0; rank < job.servers; ++rank) {
    addresses += (rank > 0 ? "," : "") + job.name + "-server-" +
                 std::to_string(rank) + "." + job.name +
                 "-server:" + std::to_string(job.port);
  }
  return addresses;
}

Json Variable(const char* name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

// The rank is the pod's number, which is not known before the pod.
Json EnvironmentOf(const Deployment& job, const std::string& role,
                   const char* rank) {
  constexpr const char* kPatience = "600";  // images are fetched first
  return Json::array({
      {{"name", "RANK"}, {"valueFrom", {{"fieldRef", {{"fieldPath", rank}}}}}},
      Variable("MXC_ROLE", role),
      Variable("WORLD_SIZE", std::to_string(job.workers)),
      Variable("MXC_SERVERS", ServersOf(job)),
      Variable("MXC_KEY", "/keys/key"),
      Variable("MXC_ARRIVAL", kPatience),
      Variable("MXC_RESUME", "1"),
      Variable("HOME", "/tmp"),
  });
}

// `key`: the process's own, the only one that it can read.
Json ContainerOf(const Deployment& job, const std::string& role,
                 const char* rank, const std::string& key) {
  return {
      {"name", role},
      {"image", job.image},
      {"command", job.command},
      {"workingDir", "/work"},
      {"env", EnvironmentOf(job, role, rank)},
      {"resources",
       {{"requests", {{"cpu", "1"}, {"memory", "1Gi"}}},
        {"limits", {{"memory", "8Gi"}}}}},
      {"securityContext",
       {{"allowPrivilegeEscalation", false},
        {"readOnlyRootFilesystem", true},
        {"capabilities", {{"drop", Json::array({"ALL"})}}}}},
      {"volumeMounts",
       Json::array({{{"name", "keys"},
                     {"mountPath", "/keys/key"},
                     {"subPathExpr", key},
                     {"readOnly", true}},
                    {{"name", "tmp"}, {"mountPath", "/tmp"}},
                    {{"name", "work"}, {"mountPath", "/work"}}})},
  };
}

// Where Prometheus finds a pod's metrics.
Json AnnotationsOf(uint32_t metrics) {
  return {{"prometheus.io/scrape", "true"},
          {"prometheus.io/port", std::to_string(metrics)},
          {"prometheus.io/path", "/metrics"}};
}

Json PodOf(const Deployment& job, const std::string& role, Json container,
           Json volumes) {
  constexpr int kUser = 1000, kReadable = 0440;
  const Json empty = {{"emptyDir", Json::object()}};
  Json tmp = {{"name", "tmp"}}, work = {{"name", "work"}};
  tmp.update(empty);
  work.update(job.volume.empty() ? empty
                                 : Json({{"persistentVolumeClaim",
                                          {{"claimName", job.volume}}}}));
  volumes.push_back(
      {{"name", "keys"},
       {"secret",
        {{"secretName", job.name + "-keys"}, {"defaultMode", kReadable}}}});
  volumes.push_back(tmp);
  volumes.push_back(work);
  return {{"metadata", {{"labels", LabelsOf(job, role)}}},
          {"spec",
           {{"automountServiceAccountToken", false},
            {"securityContext",
             {{"runAsNonRoot", true},
              {"runAsUser", kUser},
              {"runAsGroup", kUser},
              {"fsGroup", kUser},
              {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
            {"containers", Json::array({std::move(container)})},
            {"volumes", std::move(volumes)}}}};
}

Json Secret(const Deployment& job) {
  Json secret = ObjectOf("v1", "Secret", job, "-keys");
  secret["type"] = "Opaque";
  secret["stringData"] = job.keys;
  return secret;
}

// Names of servers are there before they are ready: workers wait for them.
Json Service(const Deployment& job) {
  Json service = ObjectOf("v1", "Service", job, "-server", "server");
  service["spec"] = {
      {"clusterIP", "None"},
      {"publishNotReadyAddresses", true},
      {"selector", LabelsOf(job, "server")},
      {"ports", Json::array({{{"name", "kvstore"}, {"port", job.port}}})}};
  return service;
}

// A server that is killed goes on from its journal, as long as its pod lives.
Json Servers(const Deployment& job) {
  Json container = ContainerOf(
      job, "server", "metadata.labels['apps.kubernetes.io/pod-index']",
      "server.key");
  container["env"].push_back(
      Variable("MXC_LISTEN", "0.0.0.0:" + std::to_string(job.port)));
  container["env"].push_back(Variable("MXC_ON_LOSS", job.on_loss));
  container["env"].push_back(Variable("MXC_JOURNAL", "/journal/server"));
  container["volumeMounts"].push_back(
      {{"name", "journal"}, {"mountPath", "/journal"}});
  container["ports"] =
      Json::array({{{"name", "kvstore"}, {"containerPort", job.port}}});
  if (job.metrics > 0) {
    container["env"].push_back(Variable(
        "MXC_METRICS_LISTEN", "0.0.0.0:" + std::to_string(job.metrics)));
    container["ports"].push_back(
        {{"name", "metrics"}, {"containerPort", job.metrics}});
  }
  const Json reached = {{"tcpSocket", {{"port", "kvstore"}}},
                        {"periodSeconds", 10}};
  container["startupProbe"] = reached;
  container["startupProbe"]["failureThreshold"] = 60;
  container["readinessProbe"] = container["livenessProbe"] = reached;
  const Json journal = {{"name", "journal"}, {"emptyDir", Json::object()}};
  Json pod = PodOf(job, "server", container, Json::array({journal}));
  if (job.metrics > 0) {
    pod["metadata"]["annotations"] = AnnotationsOf(job.metrics);
  }
  Json set = ObjectOf("apps/v1", "StatefulSet", job, "-server", "server");
  set["spec"] = {{"serviceName", job.name + "-server"},
                 {"replicas", job.servers},
                 {"podManagementPolicy", "Parallel"},
                 {"selector", {{"matchLabels", LabelsOf(job, "server")}}},
                 {"template", std::move(pod)}};
  return set;
}

Json Workers(const Deployment& job) {
  constexpr const char* kIndex =
      "metadata.annotations['batch.kubernetes.io/job-completion-index']";
  Json pod = PodOf(job, "worker",
                   ContainerOf(job, "worker", kIndex, "worker-$(RANK).key"),
                   Json::array());
  pod["spec"]["restartPolicy"] = "Never";
  Json workers = ObjectOf("batch/v1", "Job", job, "-worker", "worker");
  workers["spec"] = {{"completionMode", "Indexed"},
                     {"completions", job.workers},
                     {"parallelism", job.workers},
                     {"backoffLimitPerIndex", job.restarts},
                     {"template", std::move(pod)}};
  return workers;
}

// Nobody moves servers away of his own accord, and only workers reach them, but
// for their metrics.
Json Disruptions(const Deployment& job) {
  Json budget = ObjectOf("policy/v1", "PodDisruptionBudget", job, "-server");
  budget["spec"] = {{"minAvailable", job.servers},
                    {"selector", {{"matchLabels", LabelsOf(job, "server")}}}};
  return budget;
}

Json Reach(const Deployment& job) {
  Json policy =
      ObjectOf("networking.k8s.io/v1", "NetworkPolicy", job, "-server");
  const Json workers = {
      {"podSelector", {{"matchLabels", LabelsOf(job, "worker")}}}};
  policy["spec"] = {
      {"podSelector", {{"matchLabels", LabelsOf(job, "server")}}},
      {"policyTypes", Json::array({"Ingress"})},
      {"ingress",
       Json::array({{{"from", Json::array({workers})},
                     {"ports", Json::array({{{"port", job.port}}})}}})}};
  if (job.metrics > 0) {
    policy["spec"]["ingress"].push_back(
        {{"ports", Json::array({{{"port", job.metrics}}})}});
  }
  return policy;
}

void CheckName(const std::string& name) {
  constexpr size_t kLongest = 40;  // with what stands behind it, a DNS label
  const bool legal =
      !name.empty() && name.size() <= kLongest && name[0] >= 'a' &&
      name[0] <= 'z' && name.back() != '-' &&
      std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (legal) return;
  throw Failure("--name '" + name +
                "' is no name of a job, expected at most 40 of a-z, 0-9 and -, "
                "the first a letter, the last no -");
}

}  // namespace

std::string ManifestsOf(const Deployment& job) {
  CheckName(job.name);
  std::string text;
  for (const Json& object : {Secret(job), Service(job), Servers(job),
                             Workers(job), Disruptions(job), Reach(job)}) {
    text += "---\n" + Yaml(object, "");
  }
  return text;
}

}  // namespace mxc::run
