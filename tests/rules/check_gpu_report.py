#!/usr/bin/env python3
"""Usage: check_gpu_report.py SOURCE_ROOT

Tests tools/gpu_report with a fake build folder, in which shell scripts replace the test programs, nvidia-smi and
compute-sanitizer. It needs no GPU."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

root = Path(sys.argv.pop(1) if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "tools"))
import gpu_report_plan as plan  # noqa: E402

PASSES = "echo 'All tests passed (7 assertions in 3 test cases)'"
# Like Catch2 2.13, this script prints the names of the test cases, or runs the test cases that the file lists.
SELECTS = """case "$*" in
*--list-test-names-only*) cat "$0.names"; exit 3 ;;
*-f*) echo "All tests passed (9 assertions in $(wc -l <"${@: -1}") test cases)" ;;
esac"""
NAMES = """One, of three - cudaopt_test::HostDouble
One, of three - cudaopt_test::CudaDouble
One, of three - CudaDouble
One, of three - CudaDouble16
Sweep 1 counts components of g that are not finite - cudaopt_test::CudaDouble
Sweep 1 counts components of g that are not finite - CudaFloat
Sweep 1 counts components of g that are not finite - CudaDouble32
Sweep 1 counts components of g that are not finite - CudaDouble16
Sweep 1 counts components of g that are not finite - CudaFloat16
"""


def names_of(suite):
    """Returns the sources of a suite, which contain the names of its test cases."""
    return "".join(path.read_text() for path in (root / "tests" / suite).glob("*.cpp"))


class Plan(unittest.TestCase):
    def test_parts_are_told_apart(self):
        identifiers = [part.identifier for part in plan.parts()]
        self.assertEqual(len(identifiers), len(set(identifiers)))

    def test_every_suite_and_every_test_case_is_there(self):
        for part in plan.parts():
            if part.uses_catch:
                self.assertTrue((root / "tests" / part.program.split("/")[1] / "meson.build").exists(), part.program)
        for _, suite, case, _, _ in plan.SANITIZED:
            if "*" not in case:
                self.assertIn(f'"{case}"', names_of(suite))
        self.assertIn(f'"{plan.ON_CUDA["parity"][1]}"', names_of("parity"))

    def test_a_pattern_matches_names_with_a_namespace_and_without_it(self):
        part = plan.Part("suites", "", "", 1, cases=("One, of three - *CudaDouble",))
        chosen, unmatched = part.selection(NAMES.splitlines())
        self.assertEqual(chosen, NAMES.splitlines()[1:3])
        self.assertEqual(unmatched, [])
        shares = [plan.Part("suites", "", "", 1, cases=("*Cuda*",), share=(i, 3)).selection(NAMES.splitlines())[0]
                  for i in (1, 2, 3)]
        self.assertEqual(sorted(sum(shares, [])), sorted(NAMES.splitlines()[1:]))
        none = plan.Part("suites", "", "", 1, cases=("None*",))
        self.assertEqual(none.selection(NAMES.splitlines()), ([], ["None*"]))


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree, self.build, self.bin = (self.folder / name for name in ("tree", "tree/build", "bin"))
        (self.tree / "tools").mkdir(parents=True)
        for name in "gpu_report", "gpu_report_plan.py", "gpu_report_text.py":
            shutil.copy(root / "tools" / name, self.tree / "tools")
        for name in "lib", "compat", "include", "testfuncs", "apps", "drivers", "bench", "tests":
            (self.tree / name).mkdir()
            (self.tree / name / "source").write_text(name)
        self.build.mkdir()
        self.git("init", "--quiet")
        self.git("add", *(path.name for path in self.tree.iterdir() if path.name not in ("build", ".git")))
        self.commit = self.new_commit()
        self.device("NVIDIA H100 80GB HBM3, GPU-1, 580.1, 81559 MiB")
        self.script(self.bin / "compute-sanitizer", """while [ "${1#--}" != "$1" ]; do
            case $1 in --error-exitcode | --tool | --report-api-errors) shift ;; esac; shift; done
            "$@" && echo '========= ERROR SUMMARY: 0 errors'""")

    def git(self, *words):
        command = ["git", "-C", self.tree, "-c", "user.name=A", "-c", "user.email=a@b.c", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def new_commit(self):
        self.git("commit", "--quiet", "--allow-empty", "-m", "Another")
        return self.git("rev-parse", "HEAD")[:7]

    def script(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/usr/bin/env bash\necho "$0" "$@" >>"{self.folder}/calls"\n{text}\n')
        path.chmod(0o755)

    def suite(self, name, text):
        self.script(self.build / f"tests/{name}/test_{name}", text)

    def device(self, line):
        self.script(self.bin / "nvidia-smi", f"echo '{line}'")

    def calls(self, suite):
        lines = (self.folder / "calls").read_text().splitlines()
        return sum(f"/test_{suite} " in line and "--list" not in line for line in lines)

    def begin(self, *words):
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        return subprocess.Popen([sys.executable, self.tree / "tools/gpu_report", *words], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)

    def call(self, command, *words, commit=None):
        process = self.begin(command, self.build, commit or self.commit, *words)
        output, errors = process.communicate(timeout=100)
        return process.returncode, output, errors

    def run_only(self, sections, *words, status, commit=None):
        returned, _, errors = self.call("run", "--only", sections, *words, commit=commit)
        self.assertEqual(returned, status, errors)
        return errors

    def report(self, commit=None):
        status, output, errors = self.call("print", commit=commit)
        self.assertEqual(status, 0, errors)
        return output

    def results(self):
        return {path.stem: json.loads(path.read_text()) for path in (self.build / "gpu-report").glob("*.json")}

    def test_states(self):
        self.suite("api", PASSES)
        self.suite("unit", "echo 'the wrong sum'; echo 'test cases: 2 | 1 passed | 1 failed'; exit 1")
        self.suite("testfuncs", "sleep 60")
        self.suite("search", "kill -SEGV $$")
        self.suite("unlp", "echo \"No test cases matched 'CUDA'\"; echo 'No tests ran'")
        self.suite("setulb", "true")
        self.run_only("api,unit,testfuncs,search,unlp,setulb,robustness", "--limit", "5", status=1)
        report = self.report()
        for line in ("| api | passed | All tests passed (7 assertions in 3 test cases) | ",
                     "| unit | failed: exit status 1 | test cases: 2 , 1 passed , 1 failed | ",
                     "| testfuncs | timed out after 5 s |  | ",
                     "| search | failed: killed by signal 11 |  | ",
                     "| unlp | failed: no test case matches the selection | No test cases matched 'CUDA' | ",
                     "| setulb | failed: the program does not report that all tests passed |  | ",
                     "| robustness | not run: tests/robustness/test_robustness is missing |  | ",
                     "| cuda | not run |  |  |",
                     f"| parts | 1 passed, 4 failed, 1 timed out, {len(plan.parts()) - 6} not run |",
                     f"| commit | {self.commit} |", "| device | NVIDIA H100 80GB HBM3, 81559 MiB |", "the wrong sum"):
            self.assertIn(line, report)
        outside = re.sub(r"(?ms)^```text$.*?^```$", "", report)
        self.assertEqual(len(re.findall("^# ", outside, re.M)), 1)
        self.assertEqual(len(re.findall(r"^\| (?:commit|device) \|", outside, re.M)), 2)
        self.assertEqual(report.count("All tests passed"), 1)
        self.assertIn("## An iteration against its bytes\n\nms/iter", report)
        # The logs of parts that did not pass are kept, and no others.
        logs = {path.stem for path in (self.build / "gpu-report").glob("*.log")}
        self.assertEqual(logs, {f"suites-{name}" for name in ("unit", "testfuncs", "search", "unlp", "setulb")})

    def test_selections(self):
        for name, names in (("mathematics", NAMES), ("batch", "A - HostDouble\n")):
            self.suite(name, SELECTS)
            (self.build / f"tests/{name}/test_{name}.names").write_text(names)
        self.run_only("mathematics,batch,sanitizers", status=1)
        results = self.results()
        self.assertEqual(results["suites-mathematics-on-CUDA-1-of-9"]["counts"],
                         "All tests passed (9 assertions in 1 test cases)")
        self.assertEqual(results["suites-mathematics-on-CUDA-9-of-9"]["state"], "failed")  # only eight exist
        self.assertEqual({results[f"suites-batch-on-CUDA-{i}-of-4"]["reason"] for i in (1, 2, 3, 4)},
                         {"no test case matches *Cuda*, *on CUDA*"})
        for configuration in plan.BOTH + plan.APART:
            result = results[f"sanitizers-memcheck-inner-products-staged-{configuration}"]
            self.assertEqual((result["state"], result["reason"]), ("passed", ""))
            self.assertIn("ERROR SUMMARY: 0 errors", result["counts"])
        result = results["sanitizers-memcheck-crossed-CudaFloat"]
        self.assertEqual(result["reason"],
                         "no test case matches Windows of breakpoints are equivalent to the reference - *CudaFloat")
        self.assertIn("| memcheck | crossed, CudaFloat | failed: no test case matches ", self.report())

    def test_fewer_cases_than_selected_are_a_failure(self):
        self.suite("mathematics", SELECTS.replace('$(wc -l <"${@: -1}")', "5"))
        (self.build / "tests/mathematics/test_mathematics.names").write_text(NAMES)
        self.run_only("mathematics", status=1)
        self.assertEqual(self.results()["suites-mathematics-on-CUDA-1-of-9"]["reason"],
                         "5 test cases ran, not the 1 that were selected")

    def test_output_of_measurements_and_of_meson(self):
        self.script(self.build / "bench/bench_iteration", "echo \"$@\"")
        self.script(self.bin / "ncu", """echo '  void map_kernel<Rule, (int)4>(long, Rule) (1, 1, 1), Context 1'
            echo '    dram__bytes.sum    Mbyte   316.47'; echo '    gpu__time_duration.sum   us   96.64'""")
        (self.build / "build.ninja").touch()
        tests = [{"name": "cuda_opt:consumers / documents", "result": "OK", "duration": 7.5, "stdout": "never shown"},
                 {"name": "consumers - cuda_opt:c11", "result": "FAIL", "duration": 0.5, "stdout": "the wrong sum"}]
        self.script(self.bin / "meson", "mkdir -p meson-logs; while [ $1 != --logbase ]; do shift; done\n"
                    "cat >meson-logs/$2.json <<'END'\n" + "\n".join(map(json.dumps, tests)) + "\nEND\nexit 1")
        self.run_only("iteration,kernels,programs", status=1)
        report = self.report()
        for text in ("\n--backend cuda --n 4000000 --m 3 --problem torsion --own-bounds --iterations 30 --header\n",
                     "\nbounds in arrays, and as numbers\n--backend cuda --n 4000000 --m 5 --history-bits 64 ",
                     "\nm = 17\n  map_kernel                           96.64 us   316.47 Mbyte\nm = 5 --single\n",
                     "| consumers: documents | OK | 7.5 |\n| consumers: c11 | FAIL | 0.5 |\n",
                     "| all of drivers | failed: exit status 1 | ", "consumers: c11:\nthe wrong sum\n"):
            self.assertIn(text, report)
        self.assertNotIn("never shown", report)

    def test_what_has_ended_is_not_run_again(self):
        self.suite("api", PASSES)
        self.suite("unit", "exit 1")
        self.run_only("api,unit,testfuncs", status=1)
        self.suite("testfuncs", PASSES)
        self.run_only("api,unit,testfuncs", status=1)
        self.assertEqual([self.calls(name) for name in ("api", "unit", "testfuncs")], [1, 1, 1])
        self.run_only("api,testfuncs", status=0)
        self.device("NVIDIA H100 80GB HBM3, GPU-2, 580.1, 81559 MiB")  # another device of the same kind
        self.run_only("api", status=0)
        self.assertEqual(self.calls("api"), 1)

    def test_results_of_others_are_not_mixed_in(self):
        self.suite("api", PASSES)
        self.suite("unit", PASSES)
        self.run_only("api,unit", status=0)
        before, self.commit = self.commit, self.new_commit()
        status, _, errors = self.call("print")
        self.assertEqual((status, "has no result of" in errors), (2, True))
        self.run_only("api", status=0)
        self.assertEqual(self.calls("api"), 2)
        self.assertIn("| parts | 1 passed, ", self.report())
        self.assertIn("| unit | not run |", self.report())
        self.assertIn("| api | not run |", self.report(before))
        self.device("NVIDIA H100 80GB HBM3, GPU-1, 590.2, 81559 MiB")  # another driver
        self.run_only("unit", status=0)
        self.assertIn("| api | not run |", self.report())
        self.assertIn("| driver | 590.2 |", self.report())
        (self.tree / "lib/source").write_text("other sources")
        self.git("add", "lib")
        self.commit = self.new_commit()
        self.assertEqual(self.call("print")[0], 2)

    def test_other_sources_are_refused(self):
        (self.tree / "lib/source").write_text("other sources")
        self.suite("api", PASSES)
        self.assertIn("the sources are not those of", self.run_only("api", status=2))
        self.assertIn("neither a commit that git knows here nor", self.run_only("api", status=2, commit="master~7"))
        self.assertFalse((self.build / "gpu-report").exists())
        self.run_only("api", status=0, commit="1234567890")  # a commit that git does not have
        self.assertIn("not compared with the commit", self.report("1234567"))

    def test_the_longest_starts_first_and_time_ends(self):
        self.suite("reference", PASSES)
        self.suite("ranks", "sleep 60")
        self.suite("unit", PASSES)
        self.run_only("reference,ranks,unit", "--seconds", "5", "--at-once", "1", status=75)
        self.assertEqual([self.calls(name) for name in ("ranks", "reference", "unit")], [1, 0, 0])
        self.assertIn("Not run: ended unfinished after 5 s.", self.report())
        self.suite("ranks", PASSES)
        self.run_only("reference,ranks,unit", status=0)

    def test_termination_leaves_whole_results_and_no_process(self):
        self.suite("unit", PASSES)
        for name in "api", "testfuncs", "search":
            self.suite(name, f"trap '' TERM\nsleep 300 &\necho $! $$ >>'{self.folder}/pids'\nwait; sleep 300")
        for complete in False, True:
            process = self.begin("run", self.build, self.commit, "--only", "unit,api,testfuncs,search",
                                 "--at-once", "4")
            if complete:  # a second simultaneous run is refused
                while self.results().get("suites-unit", {}).get("state") != "passed" or self.sleeping() < 3:
                    self.assertIsNone(process.poll())
                    time.sleep(0.05)
                self.assertIn("another run works in", self.run_only("unit", status=2))
            else:
                time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            self.assertIn(process.returncode, (-signal.SIGTERM, 128 + signal.SIGTERM))
            for result in self.results().values():
                self.assertIn(result["state"], ("passed", "not run"))
        for number in (self.folder / "pids").read_text().split():
            self.assertFalse(self.is_alive(int(number)), number)
        self.assertEqual(self.results()["suites-unit"]["state"], "passed")
        self.assertIn("| unit | passed |", self.report())

    def sleeping(self):
        """Returns how many of the programs that ignore SIGTERM run."""
        pids = self.folder / "pids"
        return sum(map(self.is_alive, map(int, pids.read_text().split()[1::2]))) if pids.exists() else 0

    @staticmethod
    def is_alive(number):
        try:
            return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_sections_that_are_not_there_are_refused(self):
        self.assertIn("there is no section nothing; there are api, ", self.run_only("nothing", status=2))


if __name__ == "__main__":
    unittest.main()
