"""Three quarters of a Spark table, published as a series. For a platform team to run, and then to change.

    python examples/spark_quarters.py AT [PEOPLE]

AT is a folder that does not exist yet, or one where this script was run before. PEOPLE is 20000 unless you say another number.
Needs a Java, pyspark 4 and the tacenda wheel. The people are made up. They arrive, and from the second quarter on they also leave.
Run it twice with the same AT: nothing is published a second time.
"""

import random
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from tacenda.spark import Series

POLICY = """
policy = 1

[series]
name = "stays"

[columns]
patient = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 120], grid = 5 }
admitted = { role = "quasi", type = "date", domain = [2020-01-01, 2030-01-01] }
ward = { role = "quasi", type = "category", values = ["surgery", "heart", "lungs", "nerves", "children"] }
illness = { role = "sensitive", type = "category" }

[promise]
model = "m-invariance"
m = 3

[output]
formats = ["parquet"]
"""

WARDS = ["surgery", "heart", "lungs", "nerves", "children"]
COLUMNS = "patient string, age int, admitted string, ward string, illness string"


def stay(number):
    """A made-up person, the same in every quarter."""
    lots = random.Random(number)
    admitted = f"{lots.randrange(2024, 2027)}-{lots.randrange(1, 13):02}-{lots.randrange(1, 29):02}"
    illness = f"illness {lots.randrange(12)}"
    return (f"patient {number}", int(lots.triangular(0, 100, 60)), admitted, lots.choice(WARDS), illness)


def main(at, people):
    folder = Path(at)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tacenda.toml").write_text(POLICY)
    # Take out master() where your platform gives you a session.
    spark = SparkSession.builder.master("local[2]").appName("stays").config("spark.io.encryption.enabled", "true").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    series = Series(spark, at=folder)

    # A quarter: a twentieth of the people has left, and as many have arrived.
    churn = people // 20
    for quarter in range(3):
        present = range(quarter * churn, people + quarter * churn)
        table = spark.createDataFrame([stay(number) for number in present], COLUMNS)
        release = series.publish(table, f"2026-Q{quarter + 1}")
        print(f"{release.label}: release {release.number}, {len(release)} rows, already published: {release.already}")

    # What a recipient does: read the newest release and count.
    newest = spark.read.parquet(str(release.folder / f"stays-r{release.number:04}.parquet"))
    newest.groupBy("ward").count().show()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000)
